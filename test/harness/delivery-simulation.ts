import { isDeepStrictEqual } from 'node:util'
import type { AttemptOutcome, DueDelivery, EndpointRecord, Lease } from '../../src/store/index.ts'
import { Dispatcher } from '../../src/webhooks/delivery/dispatcher.ts'
import {
  freshHealth,
  healthAfter,
  type EndpointHealth,
} from '../../src/webhooks/delivery/endpoint-health.ts'
import { verdictOf } from '../../src/webhooks/delivery/outcome.ts'
import type { SendResult } from '../../src/webhooks/delivery/send.ts'
import type { DeliveryWork } from '../../src/webhooks/delivery/work.ts'
import { randomFrom } from './random.ts'

/** The result of running the real dispatcher in a simulation whose time, storage and network derive from a seed. */
export interface SimulationResult {
  readonly seed: number
  /** Descriptions of the violated invariants; empty if all hold. */
  readonly broken: string[]
  readonly sent: number
  readonly repeated: number
  readonly kills: number
}

interface Row extends DueDelivery {
  state: 'pending' | 'delivered' | 'dead' | 'skipped'
  dueAt: number
  attempts: number
  version: number
}

interface SimEndpoint {
  record: EndpointRecord
  health: EndpointHealth
  /** The health derived from all finished attempts, whichever node made them. */
  learned: EndpointHealth
  owner: string | undefined
  token: number
  until: number
  /** The receiver's behaviour: the shares of failures, of 429 with Retry-After, and of requests never answered. */
  failing: number
  pacing: number
  hanging: number
}

const horizonMs = 40_000
const healAtMs = 25_000
const hopMs = 30 * 3_600_000

/** Runs one simulated scenario, in which the seed decides everything, and checks the invariants. */
export async function simulate(seed: number): Promise<SimulationResult> {
  const random = randomFrom(seed)
  const broken: string[] = []
  let monotonic = 0
  let wall = 1_800_000_000_000
  let timers: { at: number; order: number; call: () => void }[] = []
  let order = 0
  const schedule = (ms: number, call: () => void): (() => void) => {
    const timer = { at: monotonic + Math.max(0, ms), order: order++, call }
    timers.push(timer)
    return () => void (timers = timers.filter((other) => other !== timer))
  }
  const later = async (ms: number): Promise<void> =>
    await new Promise<void>((resolve) => void schedule(ms, resolve))
  let storageDown = false
  // In some simulations, one in five messages to or from the database is slow, so that later messages can overtake it.
  const slow = random() < 0.4 ? 0.2 : 0
  const wayMs = (): number => random() * (random() < slow ? 400 : 8)

  const endpoints = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at): SimEndpoint => {
    const ordered = random() < 0.3
    return {
      record: {
        id: `ep_${at}`,
        organizationId: 'org_1',
        ordered,
        ratePerSecond: undefined,
      } as unknown as EndpointRecord,
      health: freshHealth,
      learned: freshHealth,
      owner: undefined,
      token: 0,
      until: 0,
      failing: random() < 0.5 ? random() * 0.6 : 0,
      hanging: random() < 0.3 ? random() * 0.3 : 0,
      pacing: random() < 0.3 ? random() * 0.6 : 0,
    }
  })
  const rows: Row[] = []
  const accepted = new Map<string, number>()
  const acceptedInOrder = new Map<string, number[]>()
  let sent = 0
  let lostAnswers = 0
  let lostLeases = 0
  let kills = 0

  function workOf(node: { name: string; dead: boolean }): DeliveryWork {
    /** Simulates a call to the database: it takes time, may fail before or after its effect, and dies with its node. */
    async function call<T>(effect: () => T, isTaking = false): Promise<T> {
      await later(wayMs())
      if (node.dead) return await new Promise<never>(() => undefined)
      if (storageDown) throw new Error('the database does not answer')
      const result = effect()
      await later(wayMs() / 2)
      if (node.dead) return await new Promise<never>(() => undefined)
      if (random() < 0.01) {
        lostAnswers += 1
        if (isTaking && Array.isArray(result) && result.length > 0) lostLeases += 1
        throw new Error('the answer got lost')
      }
      return result
    }
    const isFree = (endpoint: SimEndpoint): boolean =>
      endpoint.owner === undefined || endpoint.until < wall
    const isHeld = (endpoint: SimEndpoint, leases: readonly Lease[]): boolean =>
      endpoint.owner === node.name &&
      leases.some(
        ({ id, leaseToken }) => id === endpoint.record.id && leaseToken === endpoint.token,
      )
    const snapshot = (endpoint: SimEndpoint): EndpointRecord => ({
      ...endpoint.record,
      health: endpoint.health,
      leaseToken: endpoint.token,
    })
    return {
      lease: async ({ limit, ttlMs }) =>
        await call(
          () =>
            endpoints
              .filter((one) => {
                const waiting = rows.filter(
                  (row) => row.endpointId === one.record.id && row.state === 'pending',
                )
                const held = one.health.state === 'held'
                if (!isFree(one) || one.health.state === 'disabled') return false
                return held
                  ? (one.health.probeAt ?? 0) <= wall && waiting.length > 0
                  : waiting.some((row) => row.dueAt <= wall)
              })
              .slice(0, limit)
              .map((one) => {
                one.owner = node.name
                one.token += 1
                one.until = wall + ttlMs
                return snapshot(one)
              }),
          true,
        ),
      renew: async ({ leases, ttlMs }) =>
        await call(() => {
          const kept = endpoints.filter((one) => isHeld(one, leases))
          for (const one of kept) one.until = wall + ttlMs
          return new Set(kept.map((one) => one.record.id))
        }),
      release: async (leases) =>
        await call(() => {
          for (const one of endpoints) if (isHeld(one, leases)) one.owner = undefined
        }),
      load: async (endpoint, { limit, order: by, except }) =>
        await call(() => {
          const pending = rows.filter(
            (row) => row.endpointId === endpoint.id && row.state === 'pending',
          )
          const found =
            by === 'due'
              ? pending.filter((row) => row.dueAt <= wall).toSorted((a, b) => a.dueAt - b.dueAt)
              : pending.toSorted((a, b) => a.eventSequence - b.eventSequence)
          const most = limit + except.size
          const page = found.slice(0, most)
          const deliveries = page.filter((row) => !except.has(row.id)).slice(0, limit)
          return {
            deliveries: deliveries.map((row) => ({ ...row })),
            exhausted: page.length < most,
          }
        }),
      nextDueAt: async (id) =>
        await call(() => {
          const due = rows.filter((row) => row.endpointId === id && row.state === 'pending')
          return due.length === 0 ? undefined : Math.min(...due.map((row) => row.dueAt))
        }),
      complete: async ({ outcomes, healths }) =>
        await call(() => {
          const lost = new Set<string>()
          for (const { endpoint, health } of healths) {
            const one = endpoints.find((other) => other.record.id === endpoint.id)!
            if (one.token === endpoint.leaseToken) one.health = health
            else lost.add(endpoint.id)
          }
          for (const outcome of outcomes) write(outcome)
          for (const one of endpoints) {
            if (one.health.state !== 'disabled') continue
            for (const row of rows) {
              if (row.endpointId === one.record.id && row.state === 'pending') row.state = 'skipped'
            }
          }
          return lost
        }),
    }
  }

  function write(outcome: AttemptOutcome): void {
    const row = rows.find((other) => other.id === outcome.delivery.id)!
    const current = row.version === outcome.delivery.version && row.state === 'pending'
    if (!current && !(outcome.state === 'delivered' && row.state !== 'delivered')) return
    row.state = outcome.state
    row.dueAt = outcome.dueAt
    row.attempts =
      outcome.delivery.attempts +
      ((outcome.probe || outcome.paced) && outcome.state === 'pending' ? 0 : 1)
    row.version += 1
  }

  const nodes: { self: { dead: boolean }; dispatcher: Dispatcher }[] = []
  function startNode(): void {
    const node = { name: `node_${nodes.length}`, dead: false }
    const sending = new Map<string, number>()
    const dispatcher = new Dispatcher({
      work: workOf(node),
      clock: { now: () => wall, monotonic: () => monotonic },
      random,
      after: (ms, call) => schedule(ms, () => void (node.dead || call())),
      prepare: async () => ({ url: '', headers: {}, signer: { sign: () => ({}) } }),
      onError: () => undefined,
      send: async (_prepared, delivery) => {
        const endpoint = endpoints.find((one) => one.record.id === delivery.endpointId)!
        const under = (sending.get(delivery.endpointId) ?? 0) + 1
        sending.set(delivery.endpointId, under)
        sent += 1
        const most = endpoint.record.ordered || endpoint.health.state === 'held' ? 1 : 8
        if (endpoint.record.ordered && under > most)
          broken.push(`${under} at once to an ordered endpoint`)
        if (under > 8) broken.push(`${under} at once to one endpoint`)
        const startedAt = wall
        const hangs = random() < endpoint.hanging
        const fails = !hangs && random() < endpoint.failing
        const paces = !hangs && !fails && random() < endpoint.pacing
        await later(hangs ? 15_000 : 1 + random() * 60)
        // The receiver acts whether or not the sender is still alive.
        if (!hangs && !fails && !paces) accept(endpoint, delivery)
        if (node.dead) return await new Promise<never>(() => undefined)
        sending.set(delivery.endpointId, (sending.get(delivery.endpointId) ?? 1) - 1)
        const result = resultOf(startedAt, hangs ? undefined : fails ? 500 : paces ? 429 : 204)
        endpoint.learned = healthAfter(endpoint.learned, verdictOf(result), wall)
        return result
      },
    })
    nodes.push({ self: node, dispatcher })
    dispatcher.start()
  }

  function accept(endpoint: SimEndpoint, delivery: DueDelivery): void {
    const times = (accepted.get(delivery.id) ?? 0) + 1
    accepted.set(delivery.id, times)
    if (times > 1) return
    const list = acceptedInOrder.get(endpoint.record.id) ?? []
    list.push(delivery.eventSequence)
    acceptedInOrder.set(endpoint.record.id, list)
  }

  // --- The scenario ---
  startNode()
  if (random() < 0.4) startNode()
  const events = 10 + Math.floor(random() * 60)
  for (let sequence = 1; sequence <= events; sequence++) {
    schedule(random() * healAtMs * 0.8, () => {
      for (const { record, health } of endpoints) {
        rows.push({
          id: `dlv_${record.id}_${String(sequence).padStart(4, '0')}`,
          organizationId: 'org_1',
          endpointId: record.id,
          // Numbers are assigned in commit order.
          eventSequence: rows.length + 1,
          eventId: `evt_${sequence}`,
          type: 'x.y',
          dueAt: wall,
          attempts: 0,
          attemptsEver: 0,
          version: 1,
          createdAt: wall,
          body: Buffer.alloc(0),
          state: health.state === 'disabled' ? 'skipped' : 'pending',
        })
      }
      for (const node of nodes) if (!node.self.dead) node.dispatcher.hint('org_1')
    })
  }
  for (let kill = 0; kill < Math.floor(random() * 4); kill++) {
    schedule(random() * healAtMs, () => {
      const living = nodes.filter((node) => !node.self.dead)
      const victim = living[Math.floor(random() * living.length)]
      if (!victim) return
      victim.self.dead = true
      kills += 1
      schedule(random() * 2000, startNode)
    })
  }
  if (random() < 0.3) {
    const start = random() * healAtMs * 0.8
    schedule(start, () => void (storageDown = true))
    schedule(start + random() * 15_000, () => void (storageDown = false))
  }
  for (let jumps = random() < 0.4 ? 1 + Math.floor(random() * 6) : 0; jumps > 0; jumps--) {
    schedule(random() * healAtMs, () => void (wall += random() * 6 * 3_600_000))
  }
  schedule(healAtMs, () => {
    storageDown = false
    for (const endpoint of endpoints) {
      endpoint.failing = 0
      endpoint.pacing = 0
      endpoint.hanging = 0
    }
  })

  let end = horizonMs
  let hops = 0
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    const next = timers.reduce<(typeof timers)[number] | undefined>(
      (best, timer) =>
        !best || timer.at < best.at || (timer.at === best.at && timer.order < best.order)
          ? timer
          : best,
      undefined,
    )
    if (!next || next.at > end) {
      const waiting = rows.some((row) => row.state === 'pending')
      if (!next || !waiting || hops >= 25) break
      // A failed delivery may wait for up to 29 hours, so move the wall clock by 30 hours and continue for 16 s.
      hops += 1
      wall += hopMs
      end += 16_000
      continue
    }
    timers = timers.filter((timer) => timer !== next)
    wall += next.at - monotonic
    monotonic = next.at
    next.call()
  }

  // --- The invariants ---
  for (const row of rows) {
    if (row.state === 'pending') broken.push(`${row.id} still waits in a healthy world`)
    if (row.state === 'delivered' && !accepted.has(row.id))
      broken.push(`${row.id} was never accepted`)
    if (row.state === 'dead' && row.attempts < 10)
      broken.push(`${row.id} died after ${row.attempts}`)
  }
  for (const endpoint of endpoints) {
    const list = acceptedInOrder.get(endpoint.record.id) ?? []
    const ascends = list.every((sequence, at) => at === 0 || sequence > (list[at - 1] ?? 0))
    if (endpoint.record.ordered && !ascends) broken.push(`${endpoint.record.id} is out of order`)
  }
  // If a single node ran throughout and no response with leases was lost, the stored health must reflect every attempt.
  if (nodes.length === 1 && kills === 0 && lostLeases === 0) {
    for (const { record, health, learned } of endpoints) {
      if (!isDeepStrictEqual(health, learned)) {
        broken.push(
          `${record.id}: its health is ${JSON.stringify(health)}, learned was ${JSON.stringify(learned)}`,
        )
      }
    }
  }
  const repeated = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0)
  // A repeated delivery needs a reason: a killed node, a lost database response, or an expired lease.
  if (repeated > 0 && kills === 0 && lostAnswers === 0 && hops === 0 && monotonic <= horizonMs) {
    if (!nodes.some((node) => node.self.dead) && !mayHaveLostLeases())
      broken.push(`${repeated} repeated without a reason`)
  }
  return { seed, broken, sent, repeated, kills }

  function mayHaveLostLeases(): boolean {
    return endpoints.some((endpoint) => endpoint.token > 1)
  }
}

function resultOf(startedAt: number, status: number | undefined): SendResult {
  return {
    startedAt,
    durationMs: 1,
    status,
    failure: status === undefined ? 'timeout: no complete answer' : undefined,
    body: undefined,
    truncated: false,
    retryAfterMs: status === 429 ? 700 : undefined,
    asksToDisable: false,
  }
}
