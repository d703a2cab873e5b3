import type { Dispatcher } from 'undici'
import { OutboundError, asOutboundError } from './outbound-error.ts'
import type { OutboundUrl } from './url-rules.ts'

/** A request and the limits on its time and its response. */
export interface OutboundRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | undefined
  /** The time limit for the whole request: connecting, sending, and reading the last byte of the response. */
  readonly deadlineMs: number
  /**
   * At most this many bytes of the response's body are read; a longer body is cut off, and its connection is closed.
   */
  readonly maxResponseBytes: number
  readonly signal?: AbortSignal | undefined
  /**
   * The owner of the connections, such as an organization; the request never waits for a connection of another owner.
   */
  readonly partition?: string | undefined
}

/** A response; its body is complete unless it was `truncated`. */
export interface OutboundAnswer {
  readonly status: number
  /** Header names are in lower case; repeated headers are a list. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer<ArrayBuffer>
  readonly truncated: boolean
}

/**
 * Interim responses accepted per request: a server that sends them without end would occupy the event loop until the
 * deadline.
 */
const maxInterims = 16
const nothing: Buffer<ArrayBuffer> = Buffer.alloc(0)

/** Sends a request and reads the response, including its body, under one deadline. */
export async function exchange(
  dispatcher: Dispatcher,
  to: OutboundUrl,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  return await new Promise((resolve, reject) => {
    new OutboundExchange(request, { resolve, reject }).start(dispatcher, to)
  })
}

/** One request with its response; settled once, by whichever event comes first. */
class OutboundExchange implements Dispatcher.DispatchHandler {
  readonly #request: OutboundRequest
  readonly #promise: {
    resolve(answer: OutboundAnswer): void
    reject(error: OutboundError): void
  }
  readonly #deadline: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #isSettled = false
  #status = 0
  #interims = 0
  #headers: OutboundAnswer['headers'] = {}
  #chunks: Buffer[] | undefined
  #bytes = 0

  constructor(
    request: OutboundRequest,
    promise: { resolve(answer: OutboundAnswer): void; reject(error: OutboundError): void },
  ) {
    const { deadlineMs } = request
    this.#request = request
    this.#promise = promise
    this.#deadline = setTimeout(
      () => this.#give(new OutboundError('timeout', `no complete answer in ${deadlineMs} ms`)),
      deadlineMs,
    )
  }

  start(dispatcher: Dispatcher, { url }: OutboundUrl): void {
    const { signal, method, headers, body } = this.#request
    if (signal?.aborted) {
      this.#aborted()
      return
    }
    signal?.addEventListener('abort', this.#aborted, { once: true })
    const path = url.pathname + url.search
    try {
      dispatcher.dispatch({ origin: url.origin, path, method, headers, body: body ?? null }, this)
    } catch (error) {
      this.#give(asOutboundError(error))
    }
  }

  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started
    // The deadline may have passed while the connection was being opened.
    if (this.#isSettled) started.abort(new OutboundError('timeout', 'nobody waits any more'))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    code: number,
    received: OutboundAnswer['headers'],
  ): void {
    // Interim responses (1xx) also arrive here; the final response overwrites them (RFC 9110, section 15.2).
    if (code < 200 && ++this.#interims > maxInterims) {
      this.#give(new OutboundError('invalid', 'the answer was preceded by too many interim ones'))
      return
    }
    this.#status = code
    this.#headers = received
  }

  onResponseData(running: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isSettled) return
    const room = this.#request.maxResponseBytes - this.#bytes
    this.#bytes += chunk.length
    ;(this.#chunks ??= []).push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length <= room) return
    this.#answer(true)
    running.abort(new OutboundError('aborted', 'the answer is longer than its cap'))
  }

  onResponseEnd(): void {
    this.#answer(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#give(asOutboundError(error))
  }

  readonly #aborted = (): void => {
    this.#give(new OutboundError('aborted', 'the call was given up'))
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    clearTimeout(this.#deadline)
    this.#request.signal?.removeEventListener('abort', this.#aborted)
    return true
  }

  #give(error: OutboundError): void {
    if (!this.#settle()) return
    this.#promise.reject(error)
    this.#controller?.abort(error)
  }

  #answer(truncated: boolean): void {
    if (!this.#settle()) return
    const [status, headers] = [this.#status, this.#headers]
    this.#promise.resolve({ status, headers, body: joined(this.#chunks), truncated })
  }
}

function joined(chunks: Buffer[] | undefined): Buffer<ArrayBuffer> {
  const [first, second] = chunks ?? []
  if (first === undefined) return nothing
  // Copied, because a slice would keep the whole buffer of the socket in memory.
  return Buffer.concat(second === undefined ? [first] : (chunks ?? []))
}
