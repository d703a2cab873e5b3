import type { AttemptOutcome, DueDelivery, EndpointRecord } from '../../src/store/index.ts'
import { Dispatcher } from '../../src/webhooks/delivery/dispatcher.ts'
import { freshHealth, type EndpointHealth } from '../../src/webhooks/delivery/endpoint-health.ts'
import { Places } from '../../src/webhooks/delivery/places.ts'
import type { SendResult } from '../../src/webhooks/delivery/send.ts'
import type { DeliveryWork, HealthOutcome } from '../../src/webhooks/delivery/work.ts'
import { randomFrom } from './random.ts'
import { World } from './fleet-world.ts'

/**
 * Fixes that can be removed. Without `shares`, a single limit applies to all requests together. Without `connections`,
 * an origin gets at most 16 connections.
 */
export const starvingMends = ['shares', 'connections'] as const
export type StarvingMend = (typeof starvingMends)[number]

export interface StarvingResult {
  readonly broken: readonly string[]
  /** The 95th percentile of the time from commit to arrival, for endpoints of kind `healthy`. */
  readonly p95Ms: number
  readonly orderedP95Ms: number
  readonly arrived: number
}

type Kind = 'healthy' | 'ordered' | 'slow' | 'hanging' | 'failing'

interface SimEndpoint {
  readonly kind: Kind
  readonly record: EndpointRecord
  health: EndpointHealth
}

const maxPlaces = 128
const endMs = 60_000
const publishMs = 40_000
const maxP95Ms = 50
const maxOrderedP95Ms = 100
const attemptMs = 15_000
const oldSockets = 16

/** Runs the real dispatcher with healthy endpoints next to many slow, hanging and failing ones at the same origin. */
export async function simulateStarving(
  seed: number,
  without?: StarvingMend,
): Promise<StarvingResult> {
  return await new StarvingWorld(seed, without).run()
}

/** A single limit for all requests, without fair shares. */
class OneBound extends Places {
  override hasRoom(): boolean {
    return this.sending < maxPlaces
  }
}

class StarvingWorld {
  readonly #world: World
  readonly #without: StarvingMend | undefined
  readonly #endpoints = new Map<string, SimEndpoint>()
  readonly #rows = new Map<string, DueDelivery[]>()
  readonly #leased = new Set<string>()
  readonly #arrivedAfter: Record<'healthy' | 'ordered', number[]> = { healthy: [], ordered: [] }
  readonly #freeSocket: (() => void)[] = []
  #openSockets = 0
  #published = 0

  constructor(seed: number, without: StarvingMend | undefined) {
    this.#world = new World(randomFrom(seed))
    this.#without = without
  }

  async run(): Promise<StarvingResult> {
    const world = this.#world
    const { random } = world
    const bad = 40 + Math.floor(random() * 80)
    // The bad endpoints belong to one or several organizations, possibly including the healthy ones' own.
    const organizations = 1 + Math.floor(random() * 4)
    const kinds = ['slow', 'hanging', 'failing'] as const
    for (let at = 0; at < bad; at++) {
      const kind = kinds[Math.floor(random() * kinds.length)] ?? 'hanging'
      this.#addEndpoint(kind, `org_${Math.floor(random() * organizations)}`)
    }
    for (let at = 0; at < 6; at++) {
      this.#addEndpoint(at % 3 === 2 ? 'ordered' : 'healthy', `org_${at % 2 === 0 ? 0 : 9}`)
    }
    this.#publishing()
    const monotonic = (): number => world.now + 1_000_000
    const dispatcher = new Dispatcher({
      work: this.#work(),
      clock: { now: () => world.now + 1_800_000_000_000, monotonic },
      random,
      after: (ms, call) => world.schedule(ms, call),
      prepare: async () => ({ url: '', headers: {}, signer: { sign: () => ({}) } }),
      onError: () => undefined,
      send: async (_prepared, delivery) => await this.#send(delivery),
      places:
        this.#without === 'shares'
          ? new OneBound(maxPlaces, monotonic)
          : new Places(maxPlaces, monotonic),
    })
    dispatcher.start()
    world.schedule(0, () => this.#hints.push((id) => dispatcher.hint(id)))
    await world.run(endMs)
    return this.#judge()
  }

  readonly #hints: ((organizationId: string) => void)[] = []

  #judge(): StarvingResult {
    const { healthy, ordered } = this.#arrivedAfter
    const p95Ms = percentile95(healthy)
    const orderedP95Ms = percentile95(ordered)
    const broken: string[] = []
    if (p95Ms > maxP95Ms) broken.push(`healthy endpoints wait ${Math.round(p95Ms)} ms at p95`)
    if (orderedP95Ms > maxOrderedP95Ms) {
      broken.push(`ordered endpoints wait ${Math.round(orderedP95Ms)} ms at p95`)
    }
    return { broken, p95Ms, orderedP95Ms, arrived: healthy.length + ordered.length }
  }

  #addEndpoint(kind: Kind, organizationId: string): void {
    const id = `ep_${this.#endpoints.size}`
    const health = { ...freshHealth, lastSuccessAt: 1 }
    const record = {
      ...{ id, organizationId, ordered: kind === 'ordered', ratePerSecond: undefined },
      ...{ leaseToken: 1, version: 1, health },
    } as unknown as EndpointRecord
    this.#endpoints.set(id, { kind, record, health })
    this.#rows.set(id, [])
  }

  /** Schedules the events: a bad endpoint starts with 30 and gets one per second, the others get two per second. */
  #publishing(): void {
    const world = this.#world
    for (const { record, kind } of this.#endpoints.values()) {
      const isGood = kind === 'healthy' || kind === 'ordered'
      if (!isGood) for (let at = 0; at < 30; at++) this.#publish(record)
      const everyMs = isGood ? 500 : 1000
      for (let ms = 2000 + world.random() * everyMs; ms < publishMs; ms += everyMs) {
        world.schedule(ms, () => this.#publish(record))
      }
    }
  }

  #publish({ id, organizationId }: EndpointRecord): void {
    this.#published += 1
    const dueAt = this.#world.now + 1_800_000_000_000
    this.#rows.get(id)?.push({
      ...{ id: `dlv_${this.#published}`, organizationId, endpointId: id },
      ...{ eventSequence: this.#published, eventId: `evt_${this.#published}`, type: 'x.y' },
      ...{ dueAt, createdAt: dueAt, attempts: 0, attemptsEver: 0, version: 1 },
      body: Buffer.alloc(0),
    })
    for (const hint of this.#hints) hint(organizationId)
  }

  async #send(delivery: DueDelivery): Promise<SendResult> {
    const { random, now } = this.#world
    const kind = this.#endpoints.get(delivery.endpointId)?.kind ?? 'healthy'
    if (this.#without === 'connections') await this.#takeSocket()
    const status = await this.#receive(kind, delivery)
    if (this.#without === 'connections') this.#giveSocket()
    return {
      ...{ startedAt: now, durationMs: this.#world.now - now, status, body: undefined },
      failure: status === undefined ? 'timeout: no complete answer' : undefined,
      ...{ truncated: false, retryAfterMs: undefined, asksToDisable: random() < 0 },
    }
  }

  async #receive(kind: Kind, delivery: DueDelivery): Promise<number | undefined> {
    const { random } = this.#world
    if (kind === 'hanging') {
      await this.#wait(attemptMs)
      return undefined
    }
    await this.#wait(kind === 'slow' ? 2000 + random() * 8000 : 1 + random() * 8)
    if (kind === 'failing') return 500
    if (kind === 'slow') return 204
    this.#arrivedAfter[kind].push(this.#world.now + 1_800_000_000_000 - delivery.createdAt)
    return 204
  }

  async #takeSocket(): Promise<void> {
    if (this.#openSockets < oldSockets) this.#openSockets += 1
    else await new Promise<void>((resolve) => void this.#freeSocket.push(resolve))
  }

  #giveSocket(): void {
    const next = this.#freeSocket.shift()
    if (next === undefined) this.#openSockets -= 1
    else next()
  }

  /** Simulates a database that responds within a few milliseconds; with only one node, every lease holds. */
  #work(): DeliveryWork {
    const all = async <T>(effect: () => T): Promise<T> => {
      await this.#wait(this.#world.random() * 3)
      return effect()
    }
    const now = (): number => this.#world.now + 1_800_000_000_000
    const due = (id: string): DueDelivery[] =>
      (this.#rows.get(id) ?? []).filter(({ dueAt }) => dueAt <= now())
    return {
      lease: async ({ limit }) =>
        await all(() => {
          const taken = [...this.#endpoints.values()]
            .filter(({ record, health }) => this.#isFree(record.id, health, now()))
            .filter(({ record }) => due(record.id).length > 0)
            .slice(0, limit)
          for (const { record } of taken) this.#leased.add(record.id)
          return taken.map(({ record, health }) => ({ ...record, health }))
        }),
      renew: async ({ leases }) => await all(() => new Set(leases.map(({ id }) => id))),
      release: async (leases) =>
        await all(() => leases.forEach(({ id }) => this.#leased.delete(id))),
      load: async ({ id, ordered }, { limit, except }) =>
        await all(() => {
          const found = ordered ? (this.#rows.get(id) ?? []) : due(id)
          const deliveries = found.filter((row) => !except.has(row.id)).slice(0, limit)
          return { deliveries, exhausted: found.length < limit + except.size }
        }),
      nextDueAt: async (id) =>
        await all(() => {
          const times = (this.#rows.get(id) ?? []).map(({ dueAt }) => dueAt)
          return times.length === 0 ? undefined : Math.min(...times)
        }),
      complete: async (batch) => await all(() => this.#complete(batch)),
    }
  }

  #isFree(id: string, { state, probeAt = 0 }: EndpointHealth, now: number): boolean {
    if (this.#leased.has(id) || state === 'disabled') return false
    return state !== 'held' || probeAt <= now
  }

  #complete(batch: {
    readonly outcomes: readonly AttemptOutcome[]
    readonly healths: readonly HealthOutcome[]
  }): Set<string> {
    for (const { endpoint, health } of batch.healths) {
      const known = this.#endpoints.get(endpoint.id)
      if (known !== undefined) known.health = health
    }
    for (const { delivery, state, dueAt } of batch.outcomes) {
      const rows = this.#rows.get(delivery.endpointId) ?? []
      const at = rows.findIndex(({ id }) => id === delivery.id)
      const row = rows[at]
      if (row === undefined) continue
      if (state === 'pending') {
        rows[at] = { ...row, dueAt, attempts: row.attempts + 1, version: row.version + 1 }
      } else rows.splice(at, 1)
    }
    return new Set()
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void this.#world.schedule(ms, resolve))
  }
}

function percentile95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.POSITIVE_INFINITY
}
