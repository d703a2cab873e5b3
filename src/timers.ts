import type { Clock } from './clock.ts'
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

/** Lets everything else that waits for the event loop run first. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

const sliceMs = 5

/** Called between the parts of long work: yields to the event loop after 5 ms of uninterrupted work. */
export type Breath = () => Promise<void>

export function createBreath(clock: Pick<Clock, 'monotonic'>): Breath {
  let since = clock.monotonic()
  return async () => {
    if (clock.monotonic() - since < sliceMs) return
    await nextTurn()
    since = clock.monotonic()
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
