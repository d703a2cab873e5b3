// Reads of the dashboard must not make guarded calls much slower.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { percentile } from '../harness/percentile.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import { seed } from './reads-seed.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture, type TortureOptions, type TortureReport } from './torture.ts'

const callers = 4
const pauseMs = 5
const maxSlowerMs = 20
const minCalls = 200
const warmUpMs = 200
const day = () => new Date(Date.now() - 24 * 3_600_000).toISOString()
const month = () => new Date(Date.now() - 30 * 24 * 3_600_000).toISOString()

/**
 * `--size` sets the number of recorded calls: by default 1,000,000, in the short form 3,000. There are a hundredth as
 * many keys.
 */
export const reads: Torture = {
  about:
    'every read of the dashboard on 1,000,000 calls and 10,000 keys, while guarded calls are made',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-reads-'))
    await using database = await postgresForTests()
    try {
      const sqlite = await readAll({ DATA_DIR: folder }, options)
      const postgres = await readAll({ DATA_DIR: folder, DATABASE_URL: database.url }, options)
      return {
        findings: [...sqlite.findings, ...postgres.findings],
        figures: { ...named('sqlite', sqlite), ...named('postgres', postgres) },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

function named(engine: string, { figures }: TortureReport): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${engine} ${name}`, value]),
  )
}

async function readAll(
  env: Record<string, string>,
  options: TortureOptions,
): Promise<TortureReport> {
  const size = options.size ?? (options.short ? 3000 : 1_000_000)
  await using upstream = await startUpstream((_request, response) => response.end('ok'))
  const { secret } = await prepareGuarded(env, upstream.url)
  await command(env, 'member', 'add', 'torture', 'olga@torture.test', '--role', 'owner')
  const keys = Math.ceil(size / 100)
  const amounts = {
    calls: size,
    keys,
    entries: Math.ceil(size / 20),
    deliveries: Math.ceil(size / 10),
  }
  await seed(env, amounts, randomFrom(options.seed))
  await using server = await startServerProcess(env)
  const look = await signIn(env, server.baseUrl)
  const guarded = new GuardedCalls(`${server.baseUrl}/api/v1/intercept/up/x`, secret)
  try {
    const findings: string[] = []
    const figures: Record<string, number> = {}
    await guarded.during(async () => await wait(warmUpMs))
    const alone = await guarded.during(async () => await wait(options.short ? 200 : 5000))
    figures['guarded p99 alone, ms'] = percentile(alone, 0.99)
    const all: Read[] = []
    const beside = await guarded.during(async () => all.push(...(await everyRead(look))))
    for (const read of all) {
      const status: number[] = []
      const tookMs = await guarded.during(async () => status.push(await look(read)))
      beside.push(...tookMs)
      const worstMs = Math.round(Math.max(0, ...tookMs))
      options.say(`${read.method} ${read.path}: ${status[0]}, slowest guarded call ${worstMs} ms`)
      const isUnknown = status[0] === 404 && read.mayBeUnknown
      if (status[0] !== 200 && !isUnknown) findings.push(`${read.path} was answered ${status[0]}`)
    }
    figures['reads'] = all.length
    figures['guarded calls beside them'] = beside.length
    figures['guarded p99 beside them, ms'] = percentile(beside, 0.99)
    figures['guarded slowest beside them, ms'] = percentile(beside, 1)
    const slowerMs = percentile(beside, 0.99) - percentile(alone, 0.99)
    // A few seconds on a busy machine give no meaningful percentiles.
    if (!options.short && beside.length >= minCalls && !(slowerMs <= maxSlowerMs)) {
      findings.push(`guarded calls had a p99 ${slowerMs.toFixed(1)} ms higher beside reads`)
    }
    return { findings, figures: Object.fromEntries(Object.entries(figures).map(rounded)) }
  } finally {
    guarded.end()
  }
}

function rounded([name, value]: [string, number]): [string, number] {
  return [name, Math.round(value * 10) / 10]
}

/** Keeps calling at a pace that does not overload the machine. */
class GuardedCalls {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: callers })
  readonly #url: string
  readonly #secret: string

  constructor(url: string, secret: string) {
    this.#url = url
    this.#secret = secret
  }

  /** Returns the durations of the calls made during the work. */
  async during(work: () => Promise<unknown>): Promise<number[]> {
    const tookMs: number[] = []
    const over = new AbortController()
    const calling = Array.from({ length: callers }, async () => {
      do {
        const startedAt = performance.now()
        const status = await statusOf(this.#url, {
          agent: this.#agent,
          headers: { 'x-api-key': this.#secret },
        })
        if (status !== 200) throw new Error(`a guarded call was answered ${status}`)
        tookMs.push(performance.now() - startedAt)
        await wait(pauseMs)
      } while (!over.signal.aborted)
    })
    try {
      await work()
    } finally {
      over.abort()
      await Promise.all(calling)
    }
    return tookMs
  }

  end(): void {
    this.#agent.destroy()
  }
}

interface Read {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  /** Whether the path names something that may not exist. */
  readonly mayBeUnknown?: boolean
}

type Look = (read: Read, onText?: (text: string) => void) => Promise<number>

/** Signs in to the dashboard; returns a function that makes a read and waits for the end of its response. */
async function signIn(env: Record<string, string>, baseUrl: string): Promise<Look> {
  const link = await command({ ...env, BASE_URL: baseUrl }, 'sign-in-link', 'olga@torture.test')
  const answer = await fetch(`${baseUrl}/sign-in-link`, {
    method: 'POST',
    headers: { origin: baseUrl },
    body: new URLSearchParams({
      token: new URL(link['url'] ?? '').searchParams.get('token') ?? '',
    }),
  })
  await answer.text()
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  const head = { cookie, origin: baseUrl, 'content-type': 'application/json' }
  return async ({ method, path, body }, onText) =>
    await statusOf(
      `${baseUrl}/api/v1${path}`,
      { method, headers: head },
      {
        body: body && JSON.stringify(body),
        onText,
      },
    )
}

async function statusOf(
  url: string,
  options: Parameters<typeof request>[1] & object,
  how: { body?: string | undefined; onText?: ((text: string) => void) | undefined } = {},
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      let text = ''
      if (how.onText === undefined) answer.resume()
      else answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('error', reject)
      answer.on('end', () => {
        how.onText?.(text)
        resolve(answer.statusCode ?? 0)
      })
    })
    sent.on('error', reject)
    sent.end(how.body)
  })
}

const here = '/organizations/torture'

/** Lists the reads: searches, a count, exports, and every GET that a session may make and whose response ends. */
async function everyRead(look: Look): Promise<Read[]> {
  let description = ''
  await look({ method: 'GET', path: '/openapi.json' }, (text) => (description = text))
  const { paths } = JSON.parse(description) as {
    paths: Record<string, { get?: { readonly 'x-permission': string } }>
  }
  const plain = Object.entries(paths).flatMap(([template, { get }]): Read[] => {
    if (get === undefined) return []
    // The live list never ends, and routes for operators and keys need other credentials than a session.
    const isForOthers = ['operator', 'key'].includes(get['x-permission'])
    if (isForOthers || template.endsWith('/calls/live')) return []
    const path = template
      .replace(/^\/api\/v1/, '')
      .replace('{organization}', 'torture')
      .replace(/\{\w+\}/g, 'none')
      .replace(
        /\/(figures|sign-ins)$/,
        `/$1?from=${day()}&to=${new Date().toISOString()}&step_ms=3600000`,
      )
    return [{ method: 'GET', path, mayBeUnknown: path.includes('none') }]
  })
  const chart = `${here}/rollups?from=${month()}&step_ms=3600000`
  let key = ''
  await look({ method: 'GET', path: `${here}/keys?limit=1` }, (text) => {
    key = (JSON.parse(text) as { items: { id: string }[] }).items[0]?.id ?? ''
  })
  const searches = [
    ...[`${here}/calls?limit=200`, `${here}/calls?address=198.51.100.1`],
    ...[`${here}/calls?q=/nowhere`, `${here}/calls?status=5xx`, `${here}/calls?method=PUT`],
    ...[`${here}/calls?from=${day()}&stopped_at=limits`, `${here}/calls?key=${key}`],
    ...[chart, `${chart}&target=up`, `${chart}&key=${key}`, `${here}/keys/${key}/callers`],
    ...[`${here}/rollups?from=${day()}`, `${here}/keys?limit=200`, `${here}/keys?state=expired`],
    ...[`${here}/keys?search=nothing`, `${here}/keys?state=unused&limit=200`],
    ...[`${here}/audit?limit=200`, `${here}/audit?action=none`, `${here}/audit?actor_id=none`],
    ...[`${here}/webhooks/deliveries?state=missed&limit=200`, `${here}/events?limit=200`],
    ...[`${here}/webhooks/deliveries?type=none`, `${here}/events?types=webhook.ping`],
  ].map((path): Read => ({ method: 'GET', path }))
  const post = (path: string, body: Read['body']): Read =>
    body === undefined ? { method: 'POST', path } : { method: 'POST', path, body }
  return [
    ...plain,
    ...searches,
    post(`${here}/webhooks/replays/count`, { state: 'dead' }),
    post(`${here}/calls/export`, { format: 'ndjson' }),
    post(`${here}/calls/export`, { format: 'csv', address: '198.51.100.1' }),
    post(`${here}/audit/export`, { format: 'ndjson' }),
    post(`${here}/audit/export`, { format: 'csv' }),
  ]
}
