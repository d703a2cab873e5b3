const maxWaitMs = 30_000
const firstWaitMs = 250

/** How many times to try a request, and how to wait before another attempt. */
export interface Retries {
  /** The total number of attempts; defaults to 3. */
  readonly tries: number
  readonly wait: (ms: number) => Promise<void>
}

export async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/**
 * Sends a request, and repeats it where that is safe: always after 429 and 503, because the server has done nothing
 * then; after a lost response or a gateway error, only if the request is idempotent.
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

/**
 * Returns the delay before the next attempt: the server's Retry-After or, without one, a delay that doubles each time.
 * Up to 20 % is added at random, so that clients don't retry at the same moment; the maximum is 30 seconds.
 */
function waitMs(at: number, retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN)
  const asked = Number.isFinite(seconds) ? seconds * 1000 : firstWaitMs * 2 ** (at - 1)
  return Math.min(maxWaitMs, asked * (1 + 0.2 * Math.random()))
}
