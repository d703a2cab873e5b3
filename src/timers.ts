import type { Clock } from './clock.ts'
import { minuteMs } from './units.ts'

// Hourly tasks must also run on a node that never lives for an hour.
const maxFirstMs = 5 * minuteMs

/**
 * How often an idle node does its background work, in milliseconds. Tasks with the same interval share a wake-up, which
 * costs more than most of them.
 */
export const idleTurnMs = 2500

// The most that a call may come early. Calls with windows of this size can nearly always join such a wake-up.
const maxEarlyMs = 1500

interface LazyCall {
  readonly call: (lateMs: number) => void
  /** The time between two calls; undefined for a call that is made once. */
  readonly everyMs: number | undefined
  /** The call is made between these times, in monotonic milliseconds. */
  from: number
  until: number
}

/**
 * Timers for background work. A call may come early, by up to half of its delay and at most 1.5 s, so that one wake-up
 * of an idle process serves several calls. The timers keep no process alive. Calls are told how many milliseconds late
 * the process woke up.
 */
export class LazyTimers {
  readonly #monotonic: () => number
  readonly #calls = new Set<LazyCall>()
  #timer: NodeJS.Timeout | undefined
  #wakesAt = Number.POSITIVE_INFINITY
  /** The time of the wake-up whose calls are being made. */
  #now: number | undefined

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /** Calls once, and returns a function that cancels the call. */
  after(ms: number, call: (lateMs: number) => void): () => void {
    return this.#add(ms, { call, everyMs: undefined })
  }

  /** Calls repeatedly, and returns a function that ends this. */
  every(ms: number, call: (lateMs: number) => void): () => void {
    return this.#add(ms, { call, everyMs: ms })
  }

  #add(ms: number, what: Pick<LazyCall, 'call' | 'everyMs'>): () => void {
    const added = { ...what, ...windowOf(this.#now ?? this.#monotonic(), ms) }
    this.#calls.add(added)
    if (this.#now === undefined && added.until < this.#wakesAt) this.#sleep(this.#monotonic())
    return () => void this.#calls.delete(added)
  }

  #sleep(now: number): void {
    clearTimeout(this.#timer)
    this.#wakesAt = this.#next()?.until ?? Number.POSITIVE_INFINITY
    if (this.#wakesAt === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => this.#wake(), Math.round(this.#wakesAt - now)).unref()
  }

  #wake(): void {
    const lateMs = Math.max(0, this.#monotonic() - this.#wakesAt)
    const now = this.#wakesAt + lateMs
    this.#now = now
    try {
      // The call that would cause the next wake-up is made now if it may already be made.
      for (let next = this.#next(); next !== undefined && next.from <= now; next = this.#next()) {
        if (next.everyMs === undefined) this.#calls.delete(next)
        else Object.assign(next, windowOf(now, next.everyMs))
        next.call(lateMs)
      }
    } finally {
      this.#now = undefined
      this.#sleep(now)
    }
  }

  #next(): LazyCall | undefined {
    let next: LazyCall | undefined
    for (const each of this.#calls) if (next === undefined || each.until < next.until) next = each
    return next
  }
}

function windowOf(now: number, ms: number): Pick<LazyCall, 'from' | 'until'> {
  // A call is made after 1 ms at the earliest, so that the process can sleep between repeated calls.
  const until = now + Math.max(1, ms)
  return { from: Math.max(now + 1, until - Math.min(ms / 2, maxEarlyMs)), until }
}

/** The lazy timers of this process. */
export const lazily = new LazyTimers(() => performance.now())

/**
 * Runs a task repeatedly, never concurrently; closing waits for a running task. The first run comes after one interval
 * or five minutes, whichever is shorter; each run may come up to 1.5 s early.
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
  let cancel =
    intervalMs <= maxFirstMs
      ? lazily.every(intervalMs, tick)
      : lazily.after(maxFirstMs, () => {
          cancel = lazily.every(intervalMs, tick)
          tick()
        })

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
      cancel()
      await running
    },
  }
}

/** Waits until work has ended, however it ends, but at most this long. */
export async function endOf(
  work: Promise<void>,
  timers: { after(ms: number, call: () => void): () => void },
  maxMs: number,
): Promise<void> {
  const ended = work.catch(() => undefined)
  if (maxMs <= 0) return
  let cancel = (): void => undefined
  const late = new Promise<void>((resolve) => {
    cancel = timers.after(maxMs, resolve)
  })
  await Promise.race([ended, late])
  cancel()
}

/**
 * Returns a function that runs tasks one after another, so that they can use the same database connection. A task waits
 * for those before it for at most `maxWaitMs`, and sometimes only half as long (see `LazyTimers`); then it runs beside
 * them.
 */
export function inTurns(maxWaitMs: number): (task: () => Promise<unknown>) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  let unfinished = 0
  return async (task) => {
    const before = last
    last = (async () => {
      try {
        if (unfinished++ > 0) await endOf(before, lazily, maxWaitMs)
        await task()
      } finally {
        unfinished -= 1
      }
    })()
    await last
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
