import type { Clock } from '../../clock.ts'
import type { AttemptOutcome, DueDelivery } from '../../store/index.ts'
import type { Lane, LaneSender } from './lane.ts'
import { outcomeOf } from './outcome.ts'
import type { Places } from './places.ts'
import type { Send } from './send.ts'

export interface SenderDeps {
  readonly send: Send
  readonly clock: Clock
  readonly random: () => number
  readonly places: Places
  /** An endpoint's current lane, if this node sends to it. */
  readonly laneOf: (endpointId: string) => Lane | undefined
  readonly outcomes: {
    push(outcome: AttemptOutcome): void
    unwrittenOf(endpointId: string): number
  }
  readonly onAttempt: ((outcome: AttemptOutcome) => void) | undefined
}

export class Sender implements LaneSender {
  readonly #deps: SenderDeps
  readonly #waitingForPlace = new Set<Lane>()
  readonly #cut = new AbortController()
  isStopped = false

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  get sending(): number {
    return this.#deps.places.sending
  }

  underWay(endpointId: string): ReadonlySet<string> {
    return this.#deps.places.of(endpointId)
  }

  unwrittenOf(endpointId: string): number {
    return this.#deps.outcomes.unwrittenOf(endpointId)
  }

  hasPlace(lane: Lane): boolean {
    if (this.#deps.places.hasRoom(lane.applicant)) return true
    this.#waitingForPlace.add(lane)
    return false
  }

  start(lane: Lane, delivery: DueDelivery): void {
    void this.#attempt(lane, delivery)
  }

  written(delivery: Pick<DueDelivery, 'id' | 'endpointId'>): void {
    this.#deps.places.written(delivery)
  }

  /** Aborts the requests in progress; their outcomes stay unknown. */
  cut(): void {
    this.#cut.abort()
  }

  async #attempt(lane: Lane, delivery: DueDelivery): Promise<void> {
    const { places, send, clock, random } = this.#deps
    const probe = lane.state === 'held'
    const place = places.begin(lane.applicant, delivery)
    const result = await send(lane.prepared, delivery, this.#cut.signal)
    places.end(place)
    // If our own stop aborted the request, its outcome is unknown, so the next node sends the delivery again.
    if (this.#cut.signal.aborted && result.status === undefined) return
    const outcome = outcomeOf(delivery, result, { probe, nowMs: clock.now(), random })
    // The endpoint may have been leased anew in the meantime: the result goes to its current lane.
    const current = this.#deps.laneOf(delivery.endpointId)
    this.#deps.outcomes.push(current?.learn(outcome, result) ?? outcome)
    this.#deps.onAttempt?.(outcome)
    current?.pump()
    this.#givePlace()
  }

  /**
   * Gives a free place to the first waiting lane that can use it: the lane starts one request, and waits at the end of
   * the line if it has more to send.
   */
  #givePlace(): void {
    for (const lane of this.#waitingForPlace) {
      if (lane.hasQueue && !this.#deps.places.hasRoom(lane.applicant)) continue
      this.#waitingForPlace.delete(lane)
      if (!lane.hasQueue || !lane.sendNext()) continue
      if (lane.hasQueue) this.#waitingForPlace.add(lane)
      else lane.pump()
      return
    }
  }
}
