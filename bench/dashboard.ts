// npm run bench -- dashboard [--calls N] [--keys N] [--members N] [--targets N] [--rounds N]: measures the dashboard of
// a large organization in a real browser: pages, long lists, blocking time, a slow connection and the first load.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import { browserForTests } from '../test/harness/browser.ts'
import { freshDashboard, visitDashboard } from '../test/harness/dashboard.ts'
import { percentile } from '../test/harness/percentile.ts'
import { startServerProcess } from '../test/harness/server-process.ts'
import { command, startUpstream } from '../test/torture/guarded.ts'
import { fillOrganization } from './dashboard-data.ts'
import {
  blockingTime,
  firstLoad,
  scrollList,
  slowVisit,
  timeToReady,
  timeToShow,
  type Scroll,
} from './dashboard-measure.ts'

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '10000' },
    members: { type: 'string', default: '5000' },
    targets: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '10' },
  },
})
const amounts = {
  calls: Number(values.calls),
  keys: Number(values.keys),
  members: Number(values.members),
  targets: Number(values.targets),
  entries: Math.ceil(Number(values.calls) / 20),
  deliveries: Math.ceil(Number(values.calls) / 10),
}
const rounds = Number(values.rounds)
const slower = 4
const limits = { pageMs: 500, frameMs: 16, slowFrameMs: 33, blockingMs: 200, slowLineMs: 3000 }
const paths = {
  overview: '',
  calls: '/calls',
  'calls, 5xx of 30 days': '/calls?range=30d&status=5xx',
  keys: '/keys',
  targets: '/targets',
  'target traffic': '/targets/up?tab=traffic',
  webhooks: '/webhooks',
  deliveries: '/webhooks/deliveries',
  members: '/members',
  audit: '/audit',
} as const

const folder = mkdtempSync(join(tmpdir(), 'intercept-bench-dashboard-'))
try {
  freshDashboard()
  await using upstream = await startUpstream((_request, response) => response.end('ok'))
  const env = { DATA_DIR: folder, LOG_LEVEL: 'error' }
  const sizes = Object.entries(amounts).map(([what, many]) => `${many} ${what}`)
  console.log(sizes.join(', '))
  await fillOrganization(env, upstream.url, amounts)
  await using server = await startServerProcess({ ...env, LOG_LEVEL: 'info' })
  await measure(env, server.baseUrl)
  console.log(`load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} processors`)
} finally {
  rmSync(folder, { recursive: true })
}

async function measure(env: Record<string, string>, baseUrl: string): Promise<void> {
  await using browser = await browserForTests()
  const signIn = async () =>
    (await command({ ...env, BASE_URL: baseUrl }, 'sign-in-link', 'olga@torture.test'))['url']
  await using visitor = await visitDashboard(browser, { baseUrl, link: await signIn() })
  const { page } = visitor
  const at = (path: string) => `${baseUrl}/o/torture${path}`

  console.log(
    '\npage                      p50     p95 (ms, opened in the dashboard)   p95 by address',
  )
  for (const [name, path] of Object.entries(paths)) {
    const shown: number[] = []
    const loaded: number[] = []
    for (let round = 0; round < rounds; round++) {
      loaded.push(await timeToReady(page, at(path)))
      await timeToShow(page, at('/settings'))
      shown.push(await timeToShow(page, at(path)))
    }
    const p95 = percentile(shown, 0.95)
    const mark = p95 <= limits.pageMs ? 'ok' : 'OVER'
    console.log(
      `${name.padEnd(22)}${ms(percentile(shown, 0.5))}${ms(p95)}  ${mark.padEnd(30)}${ms(percentile(loaded, 0.95))}`,
    )
  }

  console.log('\nscrolled list             rows   frame p95, ms   at a 4 times slower processor')
  for (const name of ['calls', 'keys', 'members', 'targets', 'audit'] as const) {
    const [plain, slow] = [new Array<Scroll>(), new Array<Scroll>()]
    for (let round = 0; round < Math.min(5, rounds); round++) {
      plain.push(await scrollList(page, at(paths[name]), 1))
      slow.push(await scrollList(page, at(paths[name]), slower))
    }
    const [one, four] = [plain, slow].map((scrolls) =>
      percentile(
        scrolls.flatMap(({ frameMs }) => frameMs),
        0.95,
      ),
    ) as [number, number]
    const most = Math.max(...slow.map(({ rows }) => rows))
    const isIn = one <= limits.frameMs + 1 && four <= limits.slowFrameMs + 1
    console.log(
      `${name.padEnd(22)}${String(most).padStart(8)}${ms(one)}${ms(four)}  ${isIn ? 'ok' : 'OVER'}`,
    )
  }

  const blocked: number[] = []
  for (let round = 0; round < Math.min(5, rounds); round++) {
    blocked.push(await blockingTime(page, at('/calls'), slower))
  }
  const blocking = percentile(blocked, 0.5)
  say('blocking time of Calls at a 4 times slower processor, ms', blocking, limits.blockingMs)

  const first = await firstLoad(page, at(''))
  const kib = Object.entries(first).map(([kind, bytes]) => `${kind} ${(bytes / 1024).toFixed(0)}`)
  console.log(`first load of the overview, KiB compressed: ${kib.join(', ')}`)

  await using stranger = await visitDashboard(browser, { baseUrl, link: await signIn() })
  await measureSlowLine(stranger.page, at('/calls'))
}

async function measureSlowLine(page: Page, address: string): Promise<void> {
  const slow = await slowVisit(page, address)
  const told = (what: string, ms: number) => console.log(`slow line: ${what}, ms: ${ms.toFixed(0)}`)
  told('first paint of Calls (400 ms, 50 KB/s)', slow.firstPaintMs)
  told('title of Calls and the ways on', slow.waysMs)
  say('slow line: the last calls can be read, ms', slow.rowsMs, limits.slowLineMs)
  told('Calls can be worked with', slow.headMs)
  told('data of Calls', slow.dataMs)
}

function say(what: string, figure: number, limit: number): void {
  console.log(`${what}: ${figure.toFixed(0)} (at most ${limit}) ${figure <= limit ? 'ok' : 'OVER'}`)
}

function ms(figure: number): string {
  return figure.toFixed(0).padStart(8)
}
