import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, EndpointRecord } from '../../store/index.ts'
import type { Lane } from './lane.ts'
import { LaneSet } from './lane-set.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { OutcomeWriter, type HealthsWritten } from './outcome-writer.ts'
import { Places } from './places.ts'
import { Sender } from './sender.ts'
import type { PreparedEndpoint, Send } from './send.ts'
import type { DeliveryWork } from './work.ts'

const maxPlaces = 512
const stopPollMs = 5
const stopWritingMs = 2000

/** `after` schedules a callback and returns a function that cancels it. */
export interface DispatcherDeps {
  readonly work: DeliveryWork
  readonly send: Send
  /** Unseals the secrets that deliveries to an endpoint need. */
  readonly prepare: (endpoint: EndpointRecord) => Promise<PreparedEndpoint>
  readonly clock: Clock
  readonly random: () => number
  readonly after: (ms: number, call: () => void) => () => void
  /** Like `after`, but may call earlier than asked; defaults to `after`. */
  readonly afterAtMost?: ((ms: number, call: () => void) => () => void) | undefined
  /** The limit on concurrent requests that all endpoints share; defaults to 512 requests. */
  readonly places?: Places | undefined
  readonly onError: (error: unknown) => void
  /** Reports each attempt whose outcome is known, for metrics. */
  readonly onAttempt?: ((outcome: AttemptOutcome) => void) | undefined
}

/**
 * Sends due deliveries: leases endpoints, runs a delivery lane for each of them (see lane.ts), and writes outcomes in
 * batches. The process may end at any moment, because everything that must survive is in the store.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps
  readonly #sender: Sender
  readonly #lanes: LaneSet
  readonly #leases: LeaseKeeper
  readonly #writer: OutcomeWriter

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
    const { work, clock, after, onError } = deps
    const monotonic = (): number => clock.monotonic()
    this.#writer = new OutcomeWriter({
      ...{ work, after, onError, monotonic },
      healthOf: (id) => this.#lanes.find(id)?.healthOutcome,
      leasesKnown: async () => await this.#leases.known(),
      onWritten: (batch, healths) => this.#written(batch, healths),
    })
    this.#sender = new Sender({
      ...{ clock, send: deps.send, random: deps.random, onAttempt: deps.onAttempt },
      places: deps.places ?? new Places(maxPlaces, monotonic),
      laneOf: (id) => this.#lanes.find(id),
      outcomes: this.#writer,
    })
    this.#lanes = new LaneSet({
      ...{ work, clock, after, onError, prepare: deps.prepare },
      sender: this.#sender,
    })
    this.#leases = new LeaseKeeper({ ...deps, after: deps.afterAtMost ?? after }, this.#lanes)
  }

  start(): void {
    this.#leases.start()
  }

  /** Called when an organization may have something to send; `endpointIds` narrows this to some of its endpoints. */
  hint(organizationId: string, endpointIds?: readonly string[]): void {
    if (this.#sender.isStopped) return
    if (endpointIds) {
      for (const id of endpointIds) this.#lanes.find(id)?.wake()
      const areAllHere = endpointIds.every((id) => this.#lanes.find(id) !== undefined)
      if (!areAllHere) this.#leases.look(organizationId)
      return
    }
    for (const lane of this.#lanes.ofOrganization(organizationId)) {
      lane.lookAgain()
      void lane.fill()
    }
    this.#leases.look(organizationId)
  }

  /** Closes the lanes of endpoints that may have changed, and releases their leases; a missing id means all. */
  forget(organizationId?: string, endpointId?: string): void {
    const stale = this.#lanes.closeStale(organizationId, endpointId)
    if (stale.length === 0) return
    const released = this.#leases.release(stale)
    if (organizationId !== undefined) void released.then(() => this.hint(organizationId))
  }

  /**
   * Starts nothing new, waits up to `graceMs` for requests in progress and then aborts them, writes the outcomes and
   * releases the leases.
   */
  async stop(graceMs: number): Promise<void> {
    const { clock, after } = this.#deps
    this.#sender.isStopped = true
    await this.#leases.stop()
    const cancelGrace = after(graceMs, () => this.#sender.cut())
    await this.#quiet(clock.monotonic() + graceMs + stopWritingMs)
    cancelGrace()
    await this.#leases.release(this.#lanes.closeStale())
  }

  state(): { lanes: number; sending: number; unwritten: number } {
    const { sending } = this.#sender
    return { lanes: this.#lanes.size, sending, unwritten: this.#writer.unwritten }
  }

  async #quiet(until: number): Promise<void> {
    const { clock, after } = this.#deps
    const isBusy = (): boolean => this.#sender.sending > 0 || this.#writer.unwritten > 0
    while (isBusy() && clock.monotonic() < until) {
      await new Promise<void>((resolve) => void after(stopPollMs, resolve))
    }
  }

  /** Called when a batch of outcomes has been committed. */
  #written(batch: readonly AttemptOutcome[], { written, lost }: HealthsWritten): void {
    for (const { delivery } of batch) this.#sender.written(delivery)
    for (const { endpoint } of lost) this.#lanes.closeUnder(endpoint)
    for (const { endpoint, health } of written) {
      if (health.state === 'disabled') this.#lanes.closeUnder(endpoint)
    }
    const again = new Set<string>()
    for (const { state, delivery } of batch) if (state === 'pending') again.add(delivery.endpointId)
    for (const id of new Set(batch.map(({ delivery }) => delivery.endpointId))) {
      const lane = this.#lanes.find(id)
      if (!lane) continue
      // A failed delivery becomes due again, and an ordered endpoint loads one delivery at a time, so the lane must
      // check the store again.
      if (lane.endpoint.ordered || again.has(id)) lane.lookAgain()
      if (lane.state === 'held') void this.#leave(lane)
      else lane.pump()
    }
  }

  /** Releases a held endpoint, which needs no lease until its next probe is due. */
  async #leave(lane: Lane): Promise<void> {
    if (this.#sender.underWay(lane.endpoint.id).size > 0) return
    this.#lanes.close(lane)
    await this.#leases.release([lane.release])
  }
}
