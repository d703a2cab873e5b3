const maxWaitMs = 30_000
const firstWaitMs = 250

/** How often a request is tried, and how the time between passes. */
export interface Retries {
  /** Tries in all; 3. */
  readonly tries: number
  readonly wait: (ms: number) => Promise<void>
}

/** Waits with a timer. */
export async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Sends a request, and again where that is safe: always after 429 and 503, which did nothing; after a lost answer or a
 * gateway's failure only if doing it twice is doing it once.
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
      const again =
        response.status === 429 ||
        response.status === 503 ||
        (isRepeatable && (response.status === 502 || response.status === 504))
      if (isLast || !again) return response
      await response.body?.cancel()
      await pause(waitMs(at, response.headers.get('retry-after')))
    } catch (error) {
      const isAbort = error instanceof Error && error.name === 'AbortError'
      if (isLast || !isRepeatable || isAbort) throw error
      await pause(waitMs(at, null))
    }
  }
}

/** What the server says, or twice as long each time, a little different for everybody. */
function waitMs(at: number, retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN)
  const asked = Number.isFinite(seconds) ? seconds * 1000 : firstWaitMs * 2 ** (at - 1)
  return Math.min(maxWaitMs, asked * (1 + 0.2 * Math.random()))
}
