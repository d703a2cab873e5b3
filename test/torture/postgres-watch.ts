import type { ServerProcess } from '../harness/server-process.ts'
import { wait } from './torture.ts'

/** The results that callers get while something happens to the database. */
export interface Watch {
  /** The results of calls with a valid key; `at` is when the call began. */
  readonly good: { at: number; status: number; tookMs: number }[]
  /** Like `good`, for a crowd: more concurrent callers than there are connections. */
  readonly crowd: Watch['good']
  readonly badLetIn: number[]
  readonly ready: { at: number; status: number }[]
  stop(): Promise<void>
}

/** Calls continuously with a valid key and with a revoked one, and checks readiness. */
export function startWatch(server: ServerProcess, goodKey: string, badKey: string): Watch {
  const good: Watch['good'] = []
  const crowd: Watch['good'] = []
  const badLetIn: number[] = []
  const ready: Watch['ready'] = []
  const over = new AbortController()
  const repeat = async (work: () => Promise<void>, pauseMs = 20): Promise<void> => {
    while (!over.signal.aborted) {
      await work()
      await wait(pauseMs)
    }
  }
  const working = [
    repeat(async () => {
      const call = await ask(`${server.baseUrl}/api/v1/intercept`, goodKey)
      good.push(call)
    }),
    repeat(async () => {
      const call = await ask(`${server.baseUrl}/api/v1/intercept`, badKey)
      if (call.status === 200) badLetIn.push(call.at)
    }),
    ...Array.from({ length: 24 }, () =>
      repeat(
        async () => void crowd.push(await ask(`${server.baseUrl}/api/v1/intercept`, goodKey)),
        200,
      ),
    ),
    repeat(async () => void ready.push(await ask(`${server.baseUrl}/readyz`, ''))),
  ]
  return {
    good,
    crowd,
    badLetIn,
    ready,
    stop: async () => {
      over.abort()
      await Promise.all(working)
    },
  }
}

async function ask(url: string, key: string) {
  const at = performance.now()
  const status = await fetch(url, {
    headers: key === '' ? {} : { 'X-API-Key': key },
    signal: AbortSignal.timeout(20_000),
  })
    .then(async (answer) => {
      await answer.arrayBuffer()
      return answer.status
    })
    .catch(() => 0)
  return { at, status, tookMs: performance.now() - at }
}

/**
 * Waits until valid calls and readiness succeed again; returns how many milliseconds after `since` the first successful
 * call began. Calls and checks that began within 250 ms of `since` don't count.
 */
export async function recovery(watch: Watch, since: number): Promise<number> {
  await wait(300)
  await until(
    () =>
      watch.good.some((call) => call.at > since + 250 && call.status === 200) &&
      watch.ready.some((one) => one.at > since + 250 && one.status === 200),
  )
  const back = watch.good.find((call) => call.at > since + 250 && call.status === 200)
  return (back?.at ?? Infinity) - since
}

/** Waits until the condition holds; throws after a minute. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('waited 60 s in vain')
    await wait(10)
  }
}
