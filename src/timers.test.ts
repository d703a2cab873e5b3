import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { every, inTurns, LazyTimers } from './timers.ts'
import { hourMs, minuteMs } from './units.ts'

/** Creates lazy timers over mocked time, and records when they wake the process. */
function lazyTimers(t: { mock: typeof mock }) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  const wakes: number[] = []
  const timers = new LazyTimers(() => now)
  return {
    timers,
    wakes,
    noteTo: (list: number[]) => () => {
      list.push(now)
      if (wakes.at(-1) !== now) wakes.push(now)
    },
    pass(ms: number): void {
      for (const end = now + ms; now < end;) {
        now += 1
        t.mock.timers.tick(1)
      }
    },
  }
}

test('an hourly task also runs on a node that is restarted more often than that', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    let runs = 0
    const task = async (): Promise<void> => void runs++
    await using _ = every(hourMs, task, (error) => assert.ifError(error))
    mock.timers.tick(5 * minuteMs - 1)
    assert.equal(runs, 0)
    mock.timers.tick(1)
    assert.equal(runs, 1)
    await Promise.resolve()
    mock.timers.tick(hourMs)
    assert.equal(runs, 2)
  } finally {
    mock.timers.reset()
  }
})

test('background work of several periods shares the wake-ups of the most frequent', (t) => {
  const { timers, wakes, noteTo, pass } = lazyTimers(t)
  for (const ms of [1000, 2000, 5000, minuteMs]) {
    timers.every(ms, noteTo([]))
    pass(130)
  }
  timers.every(800, noteTo([]))
  pass(5000)
  wakes.length = 0
  pass(10 * minuteMs)
  assert.ok(wakes.length <= (10 * minuteMs) / 800, `${wakes.length} wake-ups`)
})

test('a lazy call is never late, at most half of its time or 1.5 s early, and not made more often for frequent neighbours', (t) => {
  const { timers, noteTo, pass } = lazyTimers(t)
  const seconds: number[] = []
  const fives: number[] = []
  timers.every(1000, noteTo(seconds))
  timers.every(5000, noteTo(fives))
  timers.every(70, noteTo([]))
  pass(minuteMs)
  for (const [list, ms, fromMs] of [
    [seconds, 1000, 500],
    [fives, 5000, 3500],
  ] as const) {
    for (const [at, time] of list.entries()) {
      const tookMs = time - (list[at - 1] ?? 0)
      assert.ok(tookMs >= fromMs && tookMs <= ms, `${tookMs} of ${ms} ms`)
    }
  }
  // The timer of 70 ms makes the calls of the one-second timer at most 70 ms early.
  assert.ok(seconds.length <= minuteMs / 930, `${seconds.length} calls`)
})

test('a cancelled call is not made, and one that throws keeps no other from being made', (t) => {
  const { timers, noteTo, pass } = lazyTimers(t)
  const made: number[] = []
  timers.after(100, noteTo(made))()
  timers.every(100, () => {
    throw new Error('a mistake')
  })
  timers.every(100, noteTo(made))
  let errors = 0
  for (let at = 0; at < 1000; at++) {
    try {
      pass(1)
    } catch {
      errors += 1
    }
  }
  assert.ok(errors >= 9, `${errors} errors`)
  assert.ok(made.length >= 9, `${made.length} calls`)
})

test('tasks run one after another, and one that fails or hangs does not hold up the next for long', async () => {
  const runInTurn = inTurns(1000)
  const order: string[] = []
  const hanging = Promise.withResolvers<undefined>()
  const task = (name: string, work?: Promise<unknown>) => async () => {
    order.push(`${name} begins`)
    await (work ?? new Promise((resolve) => setImmediate(resolve)))
    order.push(`${name} ends`)
  }
  const failing = async (): Promise<never> => {
    await task('failing')()
    throw new Error('failed')
  }
  // The timers that limit the wait keep no process alive.
  const alive = setInterval(() => undefined, 1000)
  try {
    const failed = assert.rejects(runInTurn(failing), /failed/)
    const second = runInTurn(task('second'))
    const hung = runInTurn(task('hanging', hanging.promise))
    await runInTurn(task('last'))
    hanging.resolve(undefined)
    await Promise.all([failed, second, hung])
  } finally {
    clearInterval(alive)
  }
  assert.deepEqual(order, [
    ...['failing begins', 'failing ends', 'second begins', 'second ends'],
    ...['hanging begins', 'last begins', 'last ends', 'hanging ends'],
  ])
})
