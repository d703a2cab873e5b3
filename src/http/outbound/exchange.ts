import type { Dispatcher } from 'undici'
import { OutboundError, asOutboundError } from './outbound-error.ts'
import type { OutboundUrl } from './url-rules.ts'

/** One outgoing request. */
export interface OutboundRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string | undefined
  /** For all of it: connecting, sending, the answer's last byte. */
  readonly deadlineMs: number
  /** The answer is read up to here; more of it is cut off together with the connection. */
  readonly maxResponseBytes: number
  readonly signal?: AbortSignal | undefined
  /** Whose connections are used, for example an organization's; nobody else's are waited for. */
  readonly partition?: string | undefined
}

/** A whole answer. */
export interface OutboundAnswer {
  readonly status: number
  /** Names in lower case; repeated headers as a list. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer<ArrayBuffer>
  /** Whether the body was longer than the cap. */
  readonly truncated: boolean
}

const nothing: Buffer<ArrayBuffer> = Buffer.alloc(0)

/** Sends a request and reads the answer, under one deadline that ends with the body. */
export async function exchange(
  dispatcher: Dispatcher,
  to: OutboundUrl,
  request: OutboundRequest,
): Promise<OutboundAnswer> {
  return await new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let status = 0
    let headers: OutboundAnswer['headers'] = {}
    let chunks: Buffer[] | undefined
    let bytes = 0

    const deadline = setTimeout(
      () => give(new OutboundError('timeout', `no complete answer in ${request.deadlineMs} ms`)),
      request.deadlineMs,
    )
    const aborted = (): void => give(new OutboundError('aborted', 'the call was given up'))

    function settle(): boolean {
      if (settled) return false
      settled = true
      clearTimeout(deadline)
      request.signal?.removeEventListener('abort', aborted)
      return true
    }

    function give(error: OutboundError): void {
      if (!settle()) return
      reject(error)
      controller?.abort(error)
    }

    function answer(truncated: boolean): void {
      if (!settle()) return
      resolve({ status, headers, body: joined(chunks), truncated })
    }

    if (request.signal?.aborted) {
      aborted()
      return
    }
    request.signal?.addEventListener('abort', aborted, { once: true })

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        // The deadline may have passed while the connection was being opened.
        if (settled) started.abort(new OutboundError('timeout', 'nobody waits any more'))
      },
      onResponseStart(_controller, code, received) {
        // Interim answers (1xx) come here too; the last one counts (RFC 9110, section 15.2).
        status = code
        headers = received
      },
      onResponseData(running, chunk) {
        if (settled) return
        const room = request.maxResponseBytes - bytes
        bytes += chunk.length
        ;(chunks ??= []).push(chunk.length > room ? chunk.subarray(0, room) : chunk)
        if (chunk.length <= room) return
        answer(true)
        running.abort(new OutboundError('aborted', 'the answer is longer than its cap'))
      },
      onResponseEnd: () => answer(false),
      onResponseError: (_controller, error) => give(asOutboundError(error)),
    }
    try {
      dispatcher.dispatch(
        {
          origin: to.url.origin,
          path: to.url.pathname + to.url.search,
          method: request.method,
          headers: request.headers,
          body: request.body ?? null,
        },
        handler,
      )
    } catch (error) {
      give(asOutboundError(error))
    }
  })
}

function joined(chunks: Buffer[] | undefined): Buffer<ArrayBuffer> {
  const [first, second] = chunks ?? []
  if (first === undefined) return nothing
  // Copied: what undici hands over lies in a buffer it goes on using.
  return Buffer.concat(second === undefined ? [first] : (chunks ?? []))
}
