import type { Clock } from '../../clock.ts'

// A revocation behind somebody who stands still waits for its turn rather than being refused.
const maxPatienceMs = 15_000

/** Tries a work again while only others are before it and the database answers; nothing was changed by what failed. */
export async function patiently<T>(
  deps: {
    readonly clock: Pick<Clock, 'monotonic'>
    readonly isAnswering: () => boolean
    /** Whether others were only before it, and nothing was changed. */
    readonly isWaitTooLong: (error: unknown) => boolean
  },
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = deps.clock.monotonic()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isOver = deps.clock.monotonic() - startedAt > maxPatienceMs || !deps.isAnswering()
      if (isOver || !deps.isWaitTooLong(error)) throw error
    }
  }
}
