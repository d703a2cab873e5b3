import { minuteMs } from './units.ts'

// Hourly tasks must also run on a node that never lives for an hour.
const maxFirstMs = 5 * minuteMs

/**
 * Runs a task repeatedly, first after one interval or five minutes, whichever is shorter, and never concurrently. A
 * failing task is reported and retried at the next interval. Closing waits for a running task.
 */
export function every(
  intervalMs: number,
  task: () => Promise<unknown>,
  onError: (error: unknown) => void,
): AsyncDisposable {
  let running: Promise<void> | undefined
  const tick = (): void => {
    running ??= turn()
  }
  let timer =
    intervalMs <= maxFirstMs
      ? setInterval(tick, intervalMs).unref()
      : setTimeout(() => {
          tick()
          timer = setInterval(tick, intervalMs).unref()
        }, maxFirstMs).unref()

  async function turn(): Promise<void> {
    try {
      await task()
    } catch (error) {
      onError(error)
    } finally {
      running = undefined
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await running
    },
  }
}

/** Works on the items one after another, and goes on after one that fails; throws the first error at the end. */
export async function eachApart<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = []
  for (const item of items) await work(item).catch((error: unknown) => void errors.push(error))
  if (errors.length > 0) throw errors[0]
}
