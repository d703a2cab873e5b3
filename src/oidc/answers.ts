import { Problem } from '../errors.ts'
import { fault } from './faults.ts'
import type { Step } from './faults.ts'
import { parseObject } from './json.ts'
import type { JsonObject } from './json.ts'

/** The part of fetch that a relying party needs; the guarded outbound client provides it. */
export type Fetch = (
  url: string,
  init: {
    method: 'GET' | 'POST'
    headers: Record<string, string>
    body?: string
    redirect: 'manual'
    signal: AbortSignal
  },
) => Promise<Answer>

interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: AsyncIterable<Uint8Array> | null
}

/** One call to a provider, with the limits on its response. */
export interface Call {
  readonly step: Step
  readonly url: string
  readonly form?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
  readonly contentTypes: readonly string[]
  /** The statuses whose body is read, by default only 200; any other status is a fault. */
  readonly statuses?: readonly number[]
  /** A sentence that explains a 404 or 410 of this call; it is added to the refusal. */
  readonly absent?: string
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Aborts the call earlier than `timeoutMs`, such as when the whole sign-in takes too long. */
  readonly signal?: AbortSignal | undefined
}

/** A response that was read completely and within its limits. */
export interface ReadAnswer {
  readonly status: number
  readonly contentType: string
  readonly headers: { get(name: string): string | null }
  readonly bytes: Uint8Array
}

/** Calls the provider once; redirects, unexpected content types, and large or slow responses are faults. */
export async function call(fetch: Fetch, request: Call): Promise<ReadAnswer> {
  const signal = AbortSignal.any([
    AbortSignal.timeout(request.timeoutMs),
    ...(request.signal === undefined ? [] : [request.signal]),
  ])
  try {
    const answer = await fetch(request.url, {
      method: request.form === undefined ? 'GET' : 'POST',
      headers: {
        accept: request.contentTypes.join(', '),
        'accept-encoding': 'identity',
        ...(request.form === undefined
          ? {}
          : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...request.headers,
      },
      ...(request.form === undefined ? {} : { body: request.form.toString() }),
      redirect: 'manual',
      signal,
    })
    return await readAnswer(request, answer, signal)
  } catch (error) {
    throw asFault(request.step, error, signal)
  }
}

export function objectOf(answer: ReadAnswer, step: Step): JsonObject {
  return parseObject(answer.bytes, step)
}

async function readAnswer(request: Call, answer: Answer, signal: AbortSignal): Promise<ReadAnswer> {
  const { step } = request
  try {
    if (answer.status >= 300 && answer.status < 400) throw fault('redirected', step)
    if (!(request.statuses ?? [200]).includes(answer.status)) {
      const isAbsent = answer.status === 404 || answer.status === 410
      const meaning = isAbsent && request.absent !== undefined ? ` ${request.absent}` : ''
      throw fault('status', step, `It was ${answer.status}.${meaning}`)
    }
    const contentType = mediaType(answer.headers.get('content-type'))
    if (!request.contentTypes.includes(contentType)) {
      throw fault('content_type', step, `It was ${contentType === '' ? 'missing' : contentType}.`)
    }
    refuseEncoded(answer, step)
    const bytes = await readBody(answer, request, signal)
    return { status: answer.status, contentType, headers: answer.headers, bytes }
  } catch (error) {
    await discard(answer)
    throw error
  }
}

// Refuses compressed responses, which we did not request and whose size on the wire says nothing about their real size.
function refuseEncoded(answer: Answer, step: Step): void {
  const encoding = answer.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== '') {
    throw fault('content_type', step, 'It is compressed, which was not asked for.')
  }
}

async function readBody(answer: Answer, request: Call, signal: AbortSignal): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.byteLength
    if (size > request.maxBytes) {
      throw fault('too_large', request.step, `More than ${request.maxBytes} bytes.`)
    }
    parts.push(part)
    signal.throwIfAborted()
  }
  return Buffer.concat(parts)
}

async function discard(answer: Answer): Promise<void> {
  const body = answer.body as { cancel?: () => Promise<void>; locked?: boolean } | null
  if (body?.cancel === undefined || body.locked === true) return
  await body.cancel().catch(() => undefined)
}

function mediaType(header: string | null): string {
  return (header ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

function asFault(step: Step, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof Problem) return error
  // The outbound client's own error messages contain no secret, so they may be shown.
  const { kind, message } = error as { kind?: unknown; message?: unknown }
  const seen =
    typeof kind === 'string' && typeof message === 'string'
      ? `It said: ${message.replace(/\.$/, '')}.`
      : undefined
  if (kind === 'blocked') return fault('address_blocked', step, { seen, cause: error })
  if (signal.aborted || kind === 'timeout') return fault('timeout', step, { cause: error })
  if (kind === 'invalid' && seen?.includes('longer'))
    return fault('too_large', step, { seen, cause: error })
  return fault('unreachable', step, { seen, cause: error })
}
