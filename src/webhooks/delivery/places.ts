import type { DueDelivery } from '../../store/index.ts'

/**
 * `prompt`: has succeeded and responds quickly · `unproven`: has never succeeded · `sluggish`: fails or responds
 * slowly.
 */
export type Standing = 'prompt' | 'unproven' | 'sluggish'

/** The endpoint for which another request is about to start. */
export interface Applicant {
  readonly endpointId: string
  readonly organizationId: string
  /** Derived from the endpoint's health; slow requests are tracked in this file. */
  readonly standing: Standing
}

/** One request in progress. */
export interface Place {
  readonly delivery: DueDelivery
  readonly startedAt: number
  standing: Standing
  ended: boolean
}

const slowAfterMs = 1000
const maxSlowKnown = 10_000

// The fraction of all places that requests of a standing and of all worse standings may use together, so that failing
// endpoints cannot take every place. Worse standings come later.
const shares: Record<Standing, number> = { prompt: 1, unproven: 1 / 2, sluggish: 3 / 8 }
const none: ReadonlySet<string> = new Set()

/**
 * Tracks the requests in progress and decides whether another may start. Also tracks the deliveries whose outcomes are
 * not written yet, even after their lane has closed.
 */
export class Places {
  readonly #max: number
  readonly #monotonic: () => number
  readonly #unwritten = new Map<string, Set<string>>()
  readonly #held: Record<Standing, number> = { prompt: 0, unproven: 0, sluggish: 0 }
  readonly #heldBy = new Map<string, Record<Standing, number>>()
  /** Requests not yet known to be slow, oldest first. */
  readonly #young = new Set<Place>()
  readonly #slow = new Set<string>()

  constructor(max: number, monotonic: () => number) {
    this.#max = max
    this.#monotonic = monotonic
  }

  get sending(): number {
    return this.#held.prompt + this.#held.unproven + this.#held.sluggish
  }

  /**
   * An organization may start a request only while its requests of this standing are fewer than the places that are
   * free in the standing's share. So other organizations find places, however many endpoints this one has.
   */
  hasRoom(applicant: Applicant): boolean {
    this.#ageYoung()
    const standing = this.#standingOf(applicant)
    const free = this.#freeFor(standing)
    if (free <= 0) return false
    const own = this.#heldBy.get(applicant.organizationId)
    return own === undefined || own[standing] < free
  }

  begin(applicant: Applicant, delivery: DueDelivery): Place {
    const standing = this.#standingOf(applicant)
    const place = { delivery, startedAt: this.#monotonic(), standing, ended: false }
    this.#count(place, 1)
    if (standing !== 'sluggish') this.#young.add(place)
    const { endpointId, id } = delivery
    const own = this.#unwritten.get(endpointId)
    if (own) own.add(id)
    else this.#unwritten.set(endpointId, new Set([id]))
    return place
  }

  /** Called when a request has ended: another one may start, although the outcome of this one is not written yet. */
  end(place: Place): void {
    if (place.ended) return
    place.ended = true
    this.#young.delete(place)
    this.#count(place, -1)
    const { endpointId } = place.delivery
    if (this.#monotonic() - place.startedAt < slowAfterMs) this.#slow.delete(endpointId)
    else this.#rememberSlow(endpointId)
  }

  written({ endpointId, id }: { readonly id: string; readonly endpointId: string }): void {
    const own = this.#unwritten.get(endpointId)
    own?.delete(id)
    if (own?.size === 0) this.#unwritten.delete(endpointId)
  }

  /** The ids of an endpoint's deliveries that are being sent or whose outcomes are not written yet. */
  of(endpointId: string): ReadonlySet<string> {
    return this.#unwritten.get(endpointId) ?? none
  }

  #standingOf({ endpointId, standing }: Applicant): Standing {
    return this.#slow.has(endpointId) ? 'sluggish' : standing
  }

  #freeFor(standing: Standing): number {
    const { prompt, unproven, sluggish } = this.#held
    const held = {
      sluggish,
      unproven: sluggish + unproven,
      prompt: sluggish + unproven + prompt,
    }
    const room = (of: Standing): number => Math.max(1, this.#max * shares[of]) - held[of]
    // Requests also count against the share of every better standing, so a new one must fit into its own standing's
    // share and into all better ones.
    let free = room('prompt')
    if (standing !== 'prompt') free = Math.min(free, room('unproven'))
    if (standing === 'sluggish') free = Math.min(free, room('sluggish'))
    return Math.floor(free)
  }

  /** Counts each request that has no complete response after one second as sluggish from then on. */
  #ageYoung(): void {
    const before = this.#monotonic() - slowAfterMs
    for (const place of this.#young) {
      if (place.startedAt > before) return
      this.#young.delete(place)
      this.#count(place, -1)
      place.standing = 'sluggish'
      this.#count(place, 1)
      this.#rememberSlow(place.delivery.endpointId)
    }
  }

  #rememberSlow(endpointId: string): void {
    if (this.#slow.size >= maxSlowKnown) this.#slow.clear()
    this.#slow.add(endpointId)
  }

  #count({ delivery, standing }: Place, by: 1 | -1): void {
    const { organizationId } = delivery
    this.#held[standing] += by
    const own = this.#heldBy.get(organizationId) ?? { prompt: 0, unproven: 0, sluggish: 0 }
    own[standing] += by
    if (own.prompt + own.unproven + own.sluggish === 0) this.#heldBy.delete(organizationId)
    else this.#heldBy.set(organizationId, own)
  }
}
