import type { Clock } from '../../clock.ts'

/** While the database responds, retries work that failed only because it waited too long for others. */
export async function patiently<T>(
  deps: {
    readonly clock: Pick<Clock, 'monotonic'>
    readonly isAnswering: () => Promise<boolean>
    /** Whether the work failed only because it waited too long for others, so that nothing was changed. */
    readonly isWaitTooLong: (error: unknown) => boolean
    /** Milliseconds after which no further try begins; the last one may end later. */
    readonly maxMs: number
  },
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = deps.clock.monotonic()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isOver = deps.clock.monotonic() - startedAt > deps.maxMs
      if (isOver || !deps.isWaitTooLong(error) || !(await deps.isAnswering())) throw error
    }
  }
}
