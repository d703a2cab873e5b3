// npm run bench -- webhooks: measures on both engines how fast deliveries are sent (compared with a bare sender), their
// latency, and their fairness.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent } from 'undici'
import { createOutbound } from '../src/http/index.ts'
import { createId, type OrganizationId } from '../src/ids.ts'
import { createLog } from '../src/telemetry/index.ts'
import { createSealer } from '../src/secrets/index.ts'
import { organizations, type Engine, type Store } from '../src/store/index.ts'
import { createWebhooks, eventTypes, type Webhooks } from '../src/webhooks/index.ts'
import { engines, steadyClock, storeForTests } from '../test/harness/store.ts'
import { operator } from '../test/harness/webhooks.ts'

const scale = Number(process.env['BENCH_SCALE'] ?? 1)
const drainEvents = Math.round(2000 * scale)
const drainEndpoints = 10
const latencySeconds = 10 * scale
const eventsPerSecond = 200
const fairEndpoints = 20
const hangingEvery = 10

interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The value that the figure must reach (`way` is 'least') or must not exceed (`way` is 'most'). */
  readonly bar?: number
  readonly way?: 'least' | 'most'
}

const bars: Record<Engine, { drain: number; latency: number }> = {
  sqlite: { drain: 3000, latency: 25 },
  postgres: { drain: 2000, latency: 40 },
}

/** Runs the wanted scenarios, or all of them if none is named. */
export async function measure(engine: Engine, wanted: readonly string[] = []): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [name, scenario] of Object.entries({ drain, latency, fairness, neighbours })) {
    if (wanted.length === 0 || wanted.includes(name)) figures.push(...(await scenario(engine)))
  }
  return figures
}

async function drain(engine: Engine): Promise<Figure[]> {
  await using all = await open(engine)
  const { store, webhooks, organizationId, receiver } = all
  for (let at = 0; at < drainEndpoints; at++) {
    await webhooks.endpoints.create(organizationId, { url: `${receiver.url}/${at}` }, operator)
  }
  for (let at = 0; at < drainEvents; at += 100) await publishMany(store, organizationId, 100)
  const total = drainEvents * drainEndpoints
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await webhooks.start()
  await receiver.until(total)
  while (webhooks.state().sending + webhooks.state().unwritten > 0) await pause(5)
  const used = process.cpuUsage(cpu)
  const seconds = (performance.now() - startedAt) / 1000
  const delivered = await deliveredOf(webhooks, organizationId)
  if (delivered !== total) throw new Error(`${delivered} of ${total} are delivered`)
  const bare = await bareSender(receiver.url, total)
  return [
    { name: 'drain', value: total / seconds, unit: '/s', bar: bars[engine].drain, way: 'least' },
    {
      name: 'CPU per delivery',
      value: (used.user + used.system) / total,
      unit: 'µs',
      bar: 350,
      way: 'most',
    },
    { name: 'peer: bare sender', value: bare.perSecond, unit: '/s' },
    { name: 'peer: CPU per request of the bare sender', value: bare.cpuMicros, unit: 'µs' },
  ]
}

async function latency(engine: Engine): Promise<Figure[]> {
  await using all = await open(engine)
  const { webhooks, organizationId, receiver } = all
  await webhooks.endpoints.create(organizationId, { url: receiver.url }, operator)
  await webhooks.start()
  const committed = await publishSteadily(all.store, organizationId, ['organization.plan_changed'])
  const times = latenciesOf(committed, await receiver.take(committed.size))
  return [
    { name: `commit → arrival at ${eventsPerSecond}/s, p50`, value: at(times, 0.5), unit: 'ms' },
    {
      name: `commit → arrival at ${eventsPerSecond}/s, p95`,
      value: at(times, 0.95),
      unit: 'ms',
      bar: bars[engine].latency,
      way: 'most',
    },
    { name: `commit → arrival at ${eventsPerSecond}/s, p99`, value: at(times, 0.99), unit: 'ms' },
  ]
}

/** Measures fairness: one endpoint in ten never responds, and each event type goes to one endpoint. */
async function fairness(engine: Engine): Promise<Figure[]> {
  await using all = await open(engine)
  const { webhooks, organizationId, receiver } = all
  const types = eventTypes.map(({ type }) => type).filter((type) => type !== 'webhook.ping')
  const healthy: string[] = []
  const chosen = types.slice(0, fairEndpoints)
  for (const [index, type] of chosen.entries()) {
    const hangs = index % hangingEvery === 0
    if (!hangs) healthy.push(type)
    const url = `${receiver.url}/${hangs ? 'hang' : 'fine'}`
    await webhooks.endpoints.create(organizationId, { url, types: [type] }, operator)
  }
  await webhooks.start()
  const committed = await publishSteadily(all.store, organizationId, chosen)
  const wanted = new Map([...committed].filter(([, { type }]) => healthy.includes(type)))
  const times = latenciesOf(wanted, await receiver.take(wanted.size))
  return [
    {
      name: '10 % hanging endpoints, p95 of the healthy',
      value: at(times, 0.95),
      unit: 'ms',
      bar: 50,
      way: 'most',
    },
  ]
}

/**
 * Measures fairness among the endpoints of four organizations at one host and port: twelve never respond, twelve send
 * half a response, and six respond after two seconds. The first and the last organization also have two healthy
 * endpoints each, one of them ordered.
 */
async function neighbours(engine: Engine): Promise<Figure[]> {
  await using all = await open(engine)
  const { webhooks, receiver, store } = all
  const organizationIds = [all.organizationId]
  for (const slug of ['second', 'third', 'fourth']) organizationIds.push(await add(store, slug))
  const kinds = [...Array<string>(12).fill('hang'), ...Array<string>(12).fill('half')]
  kinds.push(...Array<string>(6).fill('slow'))
  for (const [at, kind] of kinds.entries()) {
    const organizationId = organizationIds[at % organizationIds.length] ?? all.organizationId
    const input = { url: `${receiver.url}/${kind}/${at}`, types: ['member.joined'] }
    await webhooks.endpoints.create(organizationId, input, operator)
  }
  const [first = all.organizationId, last = all.organizationId] = [
    organizationIds[0],
    organizationIds.at(-1),
  ]
  const healthy = { url: `${receiver.url}/fine`, types: ['organization.plan_changed'] }
  const ordered = { url: `${receiver.url}/fine`, types: ['api_key.issued'], ordered: true }
  for (const organizationId of [first, last]) {
    await webhooks.endpoints.create(organizationId, healthy, operator)
    await webhooks.endpoints.create(organizationId, ordered, operator)
  }
  for (const organizationId of organizationIds) {
    await store.transaction(async (tx) => {
      for (let number = 0; number < 100; number++) {
        tx.event({ organizationId, type: 'member.joined', data: { number } })
      }
    })
  }
  await webhooks.start()
  const [here, there] = await Promise.all([
    publishSteadily(store, first, ['organization.plan_changed'], 50),
    publishSteadily(store, last, ['organization.plan_changed'], 50),
  ])
  const [orderedHere, orderedThere] = await Promise.all([
    publishSteadily(store, first, ['api_key.issued'], 10),
    publishSteadily(store, last, ['api_key.issued'], 10),
  ])
  const wanted = new Map([...here, ...there, ...orderedHere, ...orderedThere])
  const arrivals = await receiver.takeAll(wanted.keys())
  const p95 = (committed: Committed): number => at(latenciesOf(committed, arrivals), 0.95)
  return [
    { name: 'stuck neighbours at one origin, p95', value: p95(here), ...maxMs(50) },
    { name: 'the same, other organization', value: p95(there), ...maxMs(50) },
    { name: 'the same, ordered, p95', value: p95(orderedHere), ...maxMs(100) },
    { name: 'the same, ordered, other organization', value: p95(orderedThere), ...maxMs(100) },
  ]
}

function maxMs(bar: number) {
  return { unit: 'ms', bar, way: 'most' } as const
}

type Committed = Map<string, { at: number; type: string }>

async function publishSteadily(
  store: Store,
  organizationId: OrganizationId,
  types: readonly string[],
  perSecond = eventsPerSecond,
): Promise<Committed> {
  const committed: Committed = new Map()
  const start = performance.now()
  const writing: Promise<void>[] = []
  for (let number = 0; number < latencySeconds * perSecond; number++) {
    const dueAt = start + (number * 1000) / perSecond
    while (performance.now() < dueAt) await pause(1)
    const id = createId('evt')
    const type = types[number % types.length] ?? ''
    writing.push(
      (async () => {
        await store.transaction(async (tx) => {
          tx.event({ organizationId, type, id, data: { number, text: 'x'.repeat(600) } })
        })
        committed.set(id, { at: performance.timeOrigin + performance.now(), type })
      })(),
    )
  }
  await Promise.all(writing)
  return committed
}

async function publishMany(store: Store, organizationId: OrganizationId, count: number) {
  await store.transaction(async (tx) => {
    for (let number = 0; number < count; number++) {
      const data = { number, text: 'x'.repeat(600) }
      tx.event({ organizationId, type: 'organization.plan_changed', data })
    }
  })
}

/**
 * Measures undici alone: sends bodies of about the same size to the same receiver, without signing or storing anything.
 */
async function bareSender(url: string, total: number) {
  const agent = new Agent({ connections: 16, pipelining: 1 })
  const body = Buffer.alloc(800, 'x')
  const headers = { 'content-type': 'application/json' }
  let left = total
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left-- > 0) {
        const answer = await agent.request({
          origin: url,
          path: '/',
          method: 'POST',
          headers,
          body,
        })
        await answer.body.dump()
      }
    }),
  )
  const used = process.cpuUsage(cpu)
  const seconds = (performance.now() - startedAt) / 1000
  await agent.destroy()
  return { perSecond: total / seconds, cpuMicros: (used.user + used.system) / total }
}

function latenciesOf(committed: Committed, arrivals: readonly [string, number][]): number[] {
  const first = new Map<string, number>()
  for (const [id, time] of arrivals) if (!first.has(id)) first.set(id, time)
  return [...committed]
    .map(([id, { at: committedAt }]) => (first.get(id) ?? Number.POSITIVE_INFINITY) - committedAt)
    .toSorted((a, b) => a - b)
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function deliveredOf(webhooks: Webhooks, organizationId: string): Promise<number> {
  return (await webhooks.books(organizationId)).reduce((sum, book) => sum + book.delivered, 0)
}

interface Receiver extends AsyncDisposable {
  readonly url: string
  until(count: number): Promise<void>
  take(count: number): Promise<[string, number][]>
  takeAll(ids: Iterable<string>): Promise<[string, number][]>
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'))
  const { port } = (await reply(child)) as { port: number }
  const until = async (count: number): Promise<void> => {
    for (;;) {
      child.send('count')
      if (((await reply(child)) as { count: number }).count >= count) return
      await pause(20)
    }
  }
  return {
    url: `http://127.0.0.1:${port}`,
    until,
    async take(count) {
      await until(count)
      child.send('take')
      return ((await reply(child)) as { arrivals: [string, number][] }).arrivals
    },
    async takeAll(ids) {
      const missing = new Set(ids)
      const all: [string, number][] = []
      while (missing.size > 0) {
        child.send('take')
        const { arrivals } = (await reply(child)) as { arrivals: [string, number][] }
        all.push(...arrivals)
        for (const [id] of arrivals) missing.delete(id)
        await pause(20)
      }
      return all
    },
    async [Symbol.asyncDispose]() {
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

async function reply(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as unknown[]
  return message
}

async function open(engine: Engine) {
  await using opened = new AsyncDisposableStack()
  const clock = steadyClock()
  const { store } = opened.use(await storeForTests(engine, clock))
  const receiver = opened.use(await startReceiver())
  const outbound = opened.use(createOutbound({ allowLoopback: true }))
  const webhooks = opened.use(
    createWebhooks({
      store,
      sealer: createSealer(['a master secret of the benchmark, long']),
      clock,
      outbound,
      log: createLog({ level: 'silent' }),
    }),
  )
  const organizationId = await add(store, 'bench')
  const closing = opened.move()
  return {
    store,
    receiver,
    webhooks,
    organizationId,
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

async function add(store: Store, slug: string): Promise<OrganizationId> {
  const id = createId('org')
  const organization = { id, slug, name: slug, plan: 'standard' } as const
  await store.transaction(async (tx) => await organizations.insert(tx, organization))
  return id
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

if (import.meta.main) {
  // Usage: node bench/webhooks.ts [sqlite|postgres] [drain|latency|fairness|neighbours]…
  const words = process.argv.slice(2)
  const named = engines.filter((engine) => words.includes(engine))
  const wanted = words.filter((word) => !engines.some((engine) => engine === word))
  for (const engine of named.length > 0 ? named : engines) {
    console.log(`\nwebhooks on ${engine}`)
    for (const { name, value, unit, bar, way } of await measure(engine, wanted)) {
      const holds = bar === undefined || (way === 'least' ? value >= bar : value <= bar)
      const against = bar === undefined ? '' : `  (bar: ${way} ${bar}: ${holds ? 'met' : 'MISSED'})`
      console.log(
        `  ${name.padEnd(46)}${value.toFixed(value < 100 ? 1 : 0).padStart(8)} ${unit}${against}`,
      )
    }
  }
  process.exit(0)
}
