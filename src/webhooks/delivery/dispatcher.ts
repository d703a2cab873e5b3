import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, DueDelivery, EndpointRecord, Lease } from '../../store/index.ts'
import { healthAfter } from './endpoint-health.ts'
import {
  adapt,
  concurrencyOf,
  createLane,
  follows,
  healthOf,
  isDue,
  roomOf,
  takeToken,
  type Lane,
} from './lane.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { outcomeOf, verdictOf } from './outcome.ts'
import { createOutcomeWriter, type HealthsWritten } from './outcome-writer.ts'
import type { PreparedEndpoint, Send, SendResult } from './send.ts'
import { createUnderWay } from './under-way.ts'
import type { DeliveryWork } from './work.ts'

// A send that starts this close to the lease's end would finish under somebody else's.
const leaseMarginMs = 500
const idleBeforeReleaseMs = 5000
const lanesMost = 2000
const queueLow = 24
const placesMost = 512
// What is sent and not written would be sent again after a crash: a database that stands still must not make it many.
const unwrittenMost = 32
const stopPollMs = 5
const stopWritingMs = 2000
const retryStoreMs = 250

/** What varies. `after` calls back later and returns how to call it off. */
export interface DispatcherNeeds {
  readonly work: DeliveryWork
  readonly send: Send
  /** Opens what is sealed; rejects if the endpoint cannot be sent to now. */
  readonly prepare: (endpoint: EndpointRecord) => Promise<PreparedEndpoint>
  readonly clock: Clock
  readonly random: () => number
  readonly after: (ms: number, call: () => void) => () => void
  /** Requests under way at once, over all endpoints. */
  readonly placesMost?: number | undefined
  /** What went wrong and will be tried again: for the log. */
  readonly onError: (error: unknown) => void
  /** For metrics: every attempt's end. */
  readonly onAttempt?: ((outcome: AttemptOutcome) => void) | undefined
}

/** Sends what is due. Everything it knows is in the store: it may die at any moment. */
export interface Dispatcher {
  start(): void
  /** Something was published in an organization (for these endpoints, if they are named), or is due again. */
  hint(organizationId: string, endpointIds?: readonly string[]): void
  /** An endpoint (or, without an id, all of an organization's) changed: what is in memory is stale. */
  forget(organizationId: string, endpointId?: string): void
  /** Starts nothing more, waits for what is under way (up to `graceMs`, then cuts it), writes, gives the leases back. */
  stop(graceMs: number): Promise<void>
  readonly state: () => { lanes: number; sending: number; unwritten: number }
}

/** A dispatcher: leases endpoints, keeps a lane for each, writes outcomes in batches. */
export function createDispatcher(needs: DispatcherNeeds): Dispatcher {
  const { work, send, clock, random } = needs
  const lanes = new Map<string, Lane>()
  /** Leased, and being prepared. */
  const opening = new Set<EndpointRecord>()
  const underWay = createUnderWay(needs.placesMost ?? placesMost)
  const waitingForPlace = new Set<Lane>()
  const cut = new AbortController()
  let stopped = false
  const writer = createOutcomeWriter({
    work,
    monotonic: clock.monotonic,
    after: needs.after,
    onError: needs.onError,
    healthOf: (id) => {
      const lane = lanes.get(id)
      return lane && healthOf(lane)
    },
    leasesKnown: async () => await leases.known(),
    onWritten: settle,
  })

  const leases = createLeaseKeeper({
    ...needs,
    room: () => lanesMost - lanes.size,
    onTaken: open,
    onPoll: () => {
      // A clock that was set forward has made some of what waits due.
      for (const lane of lanes.values()) if (isDue(lane, clock.now())) wake(lane)
    },
    takeIdle: () => {
      const monotonic = clock.monotonic()
      const idle = [...lanes.values()].filter((lane) => isIdle(lane, monotonic))
      for (const lane of idle) close(lane)
      return idle.map((lane) => lane.endpoint)
    },
    held: () => [...lanes.values()].map((lane) => lane.endpoint),
    onKept: (kept, leaseEndsAt) => {
      for (const lease of kept) {
        const lane = laneUnder(lease)
        if (lane) lane.leaseEndsAt = leaseEndsAt
      }
      for (const lane of lanes.values()) pump(lane)
    },
    onLost: (lost) => lost.forEach(closeUnder),
  })

  // --- Lanes ---

  async function open(endpoint: EndpointRecord, leaseEndsAt: number): Promise<void> {
    const known = lanes.get(endpoint.id)
    if (known && follows(endpoint, known.endpoint)) {
      // Our own lease, which a clock set forward let run out: what the lane knows of the endpoint's health, and what
      // is under way, is newer than the row.
      known.endpoint = endpoint
      known.leaseEndsAt = leaseEndsAt
      wake(known)
      return
    }
    try {
      opening.add(endpoint)
      const prepared = await needs.prepare(endpoint)
      // Forgotten meanwhile: what was prepared may be stale.
      if (!opening.has(endpoint)) return
      const lane = createLane(endpoint, prepared, { leaseEndsAt, monotonic: clock.monotonic() })
      const before = lanes.get(endpoint.id)
      if (before) close(before)
      lanes.set(endpoint.id, lane)
      await fill(lane)
    } catch (error) {
      // The lease runs out by itself; then it is tried again.
      needs.onError(error)
    } finally {
      opening.delete(endpoint)
    }
  }

  function close(lane: Lane): void {
    lane.cancelWake?.()
    waitingForPlace.delete(lane)
    if (isOpen(lane)) lanes.delete(lane.endpoint.id)
  }

  /** The lane, if it is still there and by this lease: what comes late says nothing of a newer one. */
  function laneUnder({ id, leaseToken }: Lease): Lane | undefined {
    const lane = lanes.get(id)
    return lane?.endpoint.leaseToken === leaseToken ? lane : undefined
  }

  function closeUnder(lease: Lease): void {
    const lane = laneUnder(lease)
    if (lane) close(lane)
  }

  function isIdle(lane: Lane, monotonic: number): boolean {
    if (lane.loading || lane.queue.length > 0 || underWay.of(lane.endpoint.id).size > 0) {
      lane.idleSince = undefined
      return false
    }
    lane.idleSince ??= monotonic
    return lane.health.state !== 'active' || monotonic - lane.idleSince >= idleBeforeReleaseMs
  }

  // --- Filling lanes and sending ---

  async function fill(lane: Lane): Promise<void> {
    const { endpoint } = lane
    if (lane.loading) lane.hinted = true
    if (lane.loading || stopped || lane.queue.length >= queueLow || !isOpen(lane)) return
    const ordered = endpoint.ordered
    const probe = lane.health.state === 'held'
    // One after the other: the next in order is known only when the one before is sent and written.
    if ((ordered || probe) && underWay.of(endpoint.id).size + lane.queue.length > 0) return
    lane.loading = true
    lane.hinted = false
    try {
      const known = new Set(underWay.of(endpoint.id))
      for (const waiting of lane.queue) known.add(waiting.id)
      const { deliveries, exhausted } = await work.load(endpoint, {
        limit: ordered || probe ? 1 : roomOf(lane),
        order: probe ? 'probe' : ordered ? 'ordered' : 'due',
        except: known,
      })
      // A page of which nothing can be sent would be the same again.
      lane.exhausted = exhausted || deliveries.length === 0
      if (isOpen(lane)) await take(lane, deliveries)
    } catch (error) {
      needs.onError(error)
      lane.exhausted = true
      wakeIn(lane, retryStoreMs)
    } finally {
      lane.loading = false
    }
    pump(lane)
    if (lane.hinted) void fill(lane)
  }

  async function take(lane: Lane, deliveries: DueDelivery[]): Promise<void> {
    const [first] = deliveries
    const now = clock.now()
    if (lane.endpoint.ordered && lane.health.state === 'active' && first && first.dueAt > now) {
      // Nothing more until then: asking again and again would keep SQLite's thread, which is everybody's.
      lane.exhausted = true
      lane.nextDueAt = first.dueAt
      wakeIn(lane, first.dueAt - now)
      return
    }
    const under = underWay.of(lane.endpoint.id)
    lane.queue.push(...deliveries.filter((delivery) => !under.has(delivery.id)))
    if (deliveries.length > 0 || lane.endpoint.ordered) return
    const dueAt = await work.nextDueAt(lane.endpoint.id)
    lane.nextDueAt = dueAt
    if (dueAt !== undefined) wakeIn(lane, Math.max(dueAt - now, 1))
  }

  function wakeIn(lane: Lane, ms: number): void {
    // Farther times are found by the poll, on whichever node.
    if (ms > idleBeforeReleaseMs) return
    lane.cancelWake?.()
    lane.cancelWake = needs.after(Math.ceil(ms), () => {
      lane.cancelWake = undefined
      wake(lane)
    })
  }

  function wake(lane: Lane): void {
    lane.nextDueAt = undefined
    lane.exhausted = false
    void fill(lane)
    pump(lane)
  }

  const isOpen = (lane: Lane): boolean => lanes.get(lane.endpoint.id) === lane

  function pump(lane: Lane): void {
    const id = lane.endpoint.id
    if (stopped) return
    while (lane.queue.length > 0 && isOpen(lane)) {
      const under = underWay.of(id)
      if (under.size >= concurrencyOf(lane) + unwrittenOf(lane)) return
      if (clock.monotonic() > lane.leaseEndsAt - leaseMarginMs) return
      if (!hasPlace(lane)) {
        waitingForPlace.add(lane)
        return
      }
      const waitMs = takeToken(lane, clock.monotonic())
      if (waitMs !== undefined) {
        wakeIn(lane, waitMs)
        return
      }
      const delivery = lane.queue.shift()
      if (delivery) void attempt(lane, delivery)
    }
    if (!lane.exhausted || lane.hinted) void fill(lane)
  }

  /** An ordered endpoint waits until the last outcome is written; others go on meanwhile. */
  function unwrittenOf(lane: Lane): number {
    if (lane.endpoint.ordered || lane.health.state !== 'active') return 0
    return Math.min(writer.unwrittenOf(lane.endpoint.id), unwrittenMost)
  }

  function hasPlace(lane: Lane): boolean {
    return underWay.hasPlace(lane.health.failures > 0)
  }

  async function attempt(lane: Lane, delivery: DueDelivery): Promise<void> {
    const probe = lane.health.state === 'held'
    underWay.begin(delivery)
    const result = await send(lane.prepared, delivery, cut.signal)
    underWay.ended()
    // Cut off by our own stop: nothing is known, the next node sends it again.
    if (cut.signal.aborted && result.status === undefined) return
    ended(delivery, result, probe)
    givePlace()
  }

  function ended(delivery: DueDelivery, result: SendResult, probe: boolean): void {
    const nowMs = clock.now()
    const outcome = outcomeOf(delivery, result, { probe, nowMs, random })
    const id = delivery.endpointId
    // The endpoint may have been leased anew meanwhile: what was learnt counts for the lane there is now.
    const lane = lanes.get(id)
    if (lane) {
      const verdict = verdictOf(result)
      const before = lane.health.state
      lane.health = healthAfter(lane.health, verdict, nowMs)
      lane.lastAttemptAt = nowMs
      adapt(lane, verdict.succeeded, result.status !== undefined)
      if (lane.health.state !== before) lane.queue = []
      if (before === 'held' && lane.health.state === 'active') lane.exhausted = false
    }
    writer.push(outcome)
    needs.onAttempt?.(outcome)
    if (lane) pump(lane)
  }

  function givePlace(): void {
    for (const lane of waitingForPlace) {
      if (!hasPlace(lane)) continue
      waitingForPlace.delete(lane)
      pump(lane)
      return
    }
  }

  // --- After writing ---

  function settle(batch: readonly AttemptOutcome[], { written, lost }: HealthsWritten): void {
    for (const { delivery } of batch) underWay.written(delivery)
    for (const { endpoint } of lost) closeUnder(endpoint)
    for (const { endpoint, health } of written) {
      if (health.state === 'disabled') closeUnder(endpoint)
    }
    const again = new Set<string>()
    for (const { state, delivery } of batch) if (state === 'pending') again.add(delivery.endpointId)
    for (const id of new Set(batch.map(({ delivery }) => delivery.endpointId))) {
      const lane = lanes.get(id)
      if (!lane) continue
      // A delivery that failed comes back when it is due: the lane looks again.
      if (lane.endpoint.ordered || again.has(id)) lane.exhausted = false
      if (lane.health.state === 'held') void leave(lane)
      else pump(lane)
    }
  }

  /** A held endpoint is found again when its probe is due. */
  async function leave(lane: Lane): Promise<void> {
    if (underWay.of(lane.endpoint.id).size > 0) return
    close(lane)
    await leases.release([lane.endpoint])
  }

  // --- Life ---

  function hint(organizationId: string, endpointIds?: readonly string[]): void {
    if (stopped) return
    if (endpointIds) {
      for (const id of endpointIds) {
        const lane = lanes.get(id)
        if (lane) wake(lane)
      }
      if (!endpointIds.every((id) => lanes.has(id))) leases.look(organizationId)
      return
    }
    for (const lane of lanes.values()) {
      if (lane.endpoint.organizationId !== organizationId) continue
      lane.exhausted = false
      void fill(lane)
    }
    leases.look(organizationId)
  }

  async function quiet(until: number): Promise<void> {
    const unfinished = (): boolean => underWay.sending() > 0 || writer.unwritten() > 0
    while (unfinished() && clock.monotonic() < until) {
      await new Promise<void>((resolve) => void needs.after(stopPollMs, resolve))
    }
  }

  return {
    start: leases.start,
    hint,
    forget(organizationId, endpointId) {
      const isStale = (endpoint: EndpointRecord): boolean =>
        endpoint.organizationId === organizationId &&
        (endpointId === undefined || endpoint.id === endpointId)
      const stale = [...opening].filter(isStale)
      for (const endpoint of stale) opening.delete(endpoint)
      for (const lane of lanes.values()) {
        if (!isStale(lane.endpoint)) continue
        stale.push(lane.endpoint)
        close(lane)
      }
      if (stale.length === 0) return
      void leases.release(stale).then(() => hint(organizationId))
    },
    async stop(graceMs) {
      stopped = true
      await leases.stop()
      for (const lane of lanes.values()) {
        lane.queue = []
        lane.cancelWake?.()
      }
      const cancelGrace = needs.after(graceMs, () => cut.abort())
      await quiet(clock.monotonic() + graceMs + stopWritingMs)
      cancelGrace()
      await leases.release([...lanes.values()].map((lane) => lane.endpoint))
      lanes.clear()
    },
    state: () => ({
      lanes: lanes.size,
      sending: underWay.sending(),
      unwritten: writer.unwritten(),
    }),
  }
}
