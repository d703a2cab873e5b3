const maxWaitMs = 30_000
const firstWaitMs = 250
/** Statuses after which the request may or may not have been carried out. */
const maybeGone: ReadonlySet<number> = new Set([502, 503, 504])

/** How many times to try a request, and how to wait before another attempt. */
export interface Retries {
  /** The total number of attempts, including the first. */
  readonly tries: number
  readonly wait: (ms: number) => Promise<void>
}

export async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Sends a request, and repeats it only where that is safe. Repeating is always safe after 429, and after 503 with
 * Retry-After, because the server has changed nothing. Returns the last response, or throws the last error.
 */
export async function sendWithRetries(
  send: () => Promise<Response>,
  isRepeatable: boolean,
  { tries, wait: pause }: Retries,
): Promise<Response> {
  for (let at = 1; ; at++) {
    const isLast = at >= tries
    try {
      const response = await send()
      const retryAfter = response.headers.get('retry-after')
      const { status } = response
      const changedNothing = status === 429 || (status === 503 && retryAfter !== null)
      const again = changedNothing || (isRepeatable && maybeGone.has(status))
      if (isLast || !again) return response
      await response.body?.cancel()
      await pause(waitMs(at, retryAfter))
    } catch (error) {
      const isAbort = error instanceof Error && error.name === 'AbortError'
      if (isLast || !isRepeatable || isAbort) throw error
      await pause(waitMs(at, null))
    }
  }
}

/** Returns the pause before the next attempt; up to 20 % are added at random, so that clients don't retry together. */
function waitMs(at: number, retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN)
  const asked = Number.isFinite(seconds) ? seconds * 1000 : firstWaitMs * 2 ** (at - 1)
  return Math.min(maxWaitMs, asked * (1 + 0.2 * Math.random()))
}
