import type { AttemptOutcome, DueDelivery, EndpointRecord, Lease } from '../../store/index.ts'
import type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts'
import { healthAfter } from './endpoint-health.ts'
import {
  adapt,
  applicantOf,
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
import { Places, type Place } from './places.ts'
import type { SendResult } from './send.ts'

// A send that starts this close to the lease's end would finish under somebody else's.
const leaseMarginMs = 500
const idleBeforeReleaseMs = 5000
const maxLanes = 2000
const queueLow = 24
const maxPlaces = 512
const pacePollMs = 1000
// What is sent and not written would be sent again after a crash: a database that stands still must not make it many.
const maxUnwritten = 32
const stopPollMs = 5
const stopWritingMs = 2000
const retryStoreMs = 250

/** A dispatcher: leases endpoints, keeps a lane for each, writes outcomes in batches. */
export function createDispatcher(deps: DispatcherDeps): Dispatcher {
  const { work, send, clock, random } = deps
  const lanes = new Map<string, Lane>()
  /** Leased, and being prepared. */
  const opening = new Set<EndpointRecord>()
  const places = new Places(deps.maxPlaces ?? maxPlaces, clock.monotonic)
  const waitingForPlace = new Set<Lane>()
  const cut = new AbortController()
  let stopped = false
  const writer = createOutcomeWriter({
    work,
    monotonic: clock.monotonic,
    after: deps.after,
    onError: deps.onError,
    healthOf: (id) => {
      const lane = lanes.get(id)
      return lane && healthOf(lane)
    },
    leasesKnown: async () => await leases.known(),
    onWritten: settle,
  })

  const leases = createLeaseKeeper({
    ...deps,
    room: () => maxLanes - lanes.size,
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
      const prepared = await deps.prepare(endpoint)
      // Forgotten meanwhile: what was prepared may be stale.
      if (!opening.has(endpoint)) return
      const lane = createLane(endpoint, prepared, { leaseEndsAt, monotonic: clock.monotonic() })
      const before = lanes.get(endpoint.id)
      if (before) close(before)
      lanes.set(endpoint.id, lane)
      await fill(lane)
    } catch (error) {
      // The lease runs out by itself; then it is tried again.
      deps.onError(error)
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
    const isPaused = lane.pace.pauseMs(monotonic) > 0
    if (isPaused || lane.loading || lane.queue.length + places.of(lane.endpoint.id).size > 0) {
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
    if (lane.pace.pauseMs(clock.monotonic()) > 0) return
    const ordered = endpoint.ordered
    const probe = lane.health.state === 'held'
    // One after the other: the next in order is known only when the one before is sent and written.
    if ((ordered || probe) && places.of(endpoint.id).size + lane.queue.length > 0) return
    lane.loading = true
    lane.hinted = false
    try {
      const known = new Set(places.of(endpoint.id))
      for (const waiting of lane.queue) known.add(waiting.id)
      for (const id of lane.pace.waiting(clock.monotonic()).keys()) known.add(id)
      const { deliveries, exhausted } = await work.load(endpoint, {
        limit: ordered || probe ? 1 : roomOf(lane),
        order: probe ? 'probe' : ordered ? 'ordered' : 'due',
        except: known,
      })
      // A page of which nothing can be sent would be the same again.
      lane.exhausted = exhausted || deliveries.length === 0
      if (isOpen(lane)) await take(lane, deliveries)
    } catch (error) {
      deps.onError(error)
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
    const under = places.of(lane.endpoint.id)
    lane.queue.push(...deliveries.filter((delivery) => !under.has(delivery.id)))
    if (deliveries.length > 0 || lane.endpoint.ordered) return
    const monotonic = clock.monotonic()
    const waiting = [...lane.pace.waiting(monotonic).values()]
    if (waiting.length > 0) {
      wakeIn(lane, Math.min(pacePollMs, ...waiting.map((until) => until - monotonic)))
      return
    }
    const dueAt = await work.nextDueAt(lane.endpoint.id)
    lane.nextDueAt = dueAt
    if (dueAt !== undefined) wakeIn(lane, Math.max(dueAt - now, 1))
  }

  function wakeIn(lane: Lane, ms: number): void {
    // Farther times are found by the poll, on whichever node.
    if (ms > idleBeforeReleaseMs) return
    lane.cancelWake?.()
    lane.cancelWake = deps.after(Math.ceil(ms), () => {
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
    if (stopped) return
    while (lane.queue.length > 0 && isOpen(lane)) if (!sendNext(lane)) return
    if (!lane.exhausted || lane.hinted) void fill(lane)
  }

  /** Starts one attempt if everything allows it; sees to it that the lane is looked at again otherwise. */
  function sendNext(lane: Lane): boolean {
    const monotonic = clock.monotonic()
    if (places.of(lane.endpoint.id).size >= concurrencyOf(lane) + unwrittenOf(lane)) return false
    if (monotonic > lane.leaseEndsAt - leaseMarginMs) return false
    if (lane.pace.pauseMs(monotonic) > 0) return false
    if (!places.hasRoom(applicantOf(lane))) {
      waitingForPlace.add(lane)
      return false
    }
    const waitMs = takeToken(lane, monotonic)
    if (waitMs !== undefined) {
      wakeIn(lane, waitMs)
      return false
    }
    const delivery = lane.queue.shift()
    if (delivery) void attempt(lane, delivery)
    return true
  }

  /** An ordered endpoint waits until the last outcome is written; others go on meanwhile. */
  function unwrittenOf(lane: Lane): number {
    if (lane.endpoint.ordered || lane.health.state !== 'active') return 0
    return Math.min(writer.unwrittenOf(lane.endpoint.id), maxUnwritten)
  }

  async function attempt(lane: Lane, delivery: DueDelivery): Promise<void> {
    const probe = lane.health.state === 'held'
    const place: Place = places.begin(applicantOf(lane), delivery)
    const result = await send(lane.prepared, delivery, cut.signal)
    places.end(place)
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
      if (outcome.paced) pause(lane, outcome)
      if (lane.health.state !== before) lane.queue = []
      if (before === 'held' && lane.health.state === 'active') lane.exhausted = false
    }
    writer.push(outcome)
    deps.onAttempt?.(outcome)
    if (lane) pump(lane)
  }

  /** Those that the receiver refused come first again, after its pause. */
  function pause(lane: Lane, { delivery, retryAfterMs }: AttemptOutcome): void {
    const monotonic = clock.monotonic()
    lane.pace.refused(delivery.id, retryAfterMs ?? 0, monotonic)
    const pauseMs = lane.pace.pauseMs(monotonic)
    if (pauseMs === 0) return
    lane.queue = []
    lane.nextDueAt = clock.now() + pauseMs
    wakeIn(lane, pauseMs)
  }

  /** One at a time to each lane in turn; a lane that wants another lines up again. */
  function givePlace(): void {
    for (const lane of waitingForPlace) {
      if (!places.hasRoom(applicantOf(lane))) continue
      waitingForPlace.delete(lane)
      if (lane.queue.length > 0 && isOpen(lane) && !stopped && sendNext(lane)) {
        if (lane.queue.length > 0) waitingForPlace.add(lane)
        else pump(lane)
        return
      }
    }
  }

  // --- After writing ---

  function settle(batch: readonly AttemptOutcome[], { written, lost }: HealthsWritten): void {
    for (const { delivery } of batch) places.written(delivery)
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
    if (places.of(lane.endpoint.id).size > 0) return
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
    const unfinished = (): boolean => places.sending > 0 || writer.unwritten() > 0
    while (unfinished() && clock.monotonic() < until) {
      await new Promise<void>((resolve) => void deps.after(stopPollMs, resolve))
    }
  }

  return {
    start: leases.start,
    hint,
    forget(organizationId, endpointId) {
      const isStale = (endpoint: EndpointRecord): boolean =>
        (organizationId === undefined || endpoint.organizationId === organizationId) &&
        (endpointId === undefined || endpoint.id === endpointId)
      const stale = [...opening].filter(isStale)
      for (const endpoint of stale) opening.delete(endpoint)
      for (const lane of lanes.values()) {
        if (!isStale(lane.endpoint)) continue
        stale.push(lane.endpoint)
        close(lane)
      }
      if (stale.length === 0) return
      void leases
        .release(stale)
        .then(() => (organizationId === undefined ? undefined : hint(organizationId)))
    },
    async stop(graceMs) {
      stopped = true
      await leases.stop()
      for (const lane of lanes.values()) {
        lane.queue = []
        lane.cancelWake?.()
      }
      const cancelGrace = deps.after(graceMs, () => cut.abort())
      await quiet(clock.monotonic() + graceMs + stopWritingMs)
      cancelGrace()
      await leases.release([...lanes.values()].map((lane) => lane.endpoint))
      lanes.clear()
    },
    state: () => ({
      lanes: lanes.size,
      sending: places.sending,
      unwritten: writer.unwritten(),
    }),
  }
}
