import type { DueDelivery } from '../../store/index.ts'

/** `prompt`: has succeeded and answers quickly · `unproven`: has never succeeded · `sluggish`: fails or takes its time. */
export type Standing = 'prompt' | 'unproven' | 'sluggish'

/** Who wants a place for a request. */
export interface Applicant {
  readonly endpointId: string
  readonly organizationId: string
  /** What the endpoint's health says; that it is slow is known here. */
  readonly standing: Standing
}

/** One request under way. */
export interface Place {
  readonly delivery: DueDelivery
  readonly startedAt: number
  standing: Standing
  ended: boolean
}

const slowAfterMs = 1000
const maxSlowKnown = 10_000

// Shares of all places. Prompt endpoints always have half of them to themselves; new ones are kept from nothing by
// those that are known to be slow.
const shares: Record<Standing, number> = { prompt: 1, unproven: 1 / 2, sluggish: 3 / 8 }
const none: ReadonlySet<string> = new Set()

/**
 * The requests under way, and who may start one more: a bound over all, and fair shares below it. Also what was sent
 * and is not written yet; that outlives the lanes.
 */
export class Places {
  readonly #max: number
  readonly #monotonic: () => number
  readonly #unwritten = new Map<string, Set<string>>()
  readonly #held: Record<Standing, number> = { prompt: 0, unproven: 0, sluggish: 0 }
  readonly #heldBy = new Map<string, Record<Standing, number>>()
  /** Those not yet known to be slow, the oldest first. */
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
   * Whether one more request may be started. Of what its standing leaves, an organization holds at most as many places
   * as are still free: however many endpoints it has, the next organization finds some.
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

  /** The request has ended: its place is free, its outcome not yet on the disk. */
  end(place: Place): void {
    if (place.ended) return
    place.ended = true
    this.#young.delete(place)
    this.#count(place, -1)
    const { endpointId } = place.delivery
    if (this.#monotonic() - place.startedAt < slowAfterMs) this.#slow.delete(endpointId)
    else this.#rememberSlow(endpointId)
  }

  /** The outcome is on the disk. */
  written({ endpointId, id }: { readonly id: string; readonly endpointId: string }): void {
    const own = this.#unwritten.get(endpointId)
    own?.delete(id)
    if (own?.size === 0) this.#unwritten.delete(endpointId)
  }

  /** The deliveries of an endpoint that are being sent or not yet written, by id. */
  of(endpointId: string): ReadonlySet<string> {
    return this.#unwritten.get(endpointId) ?? none
  }

  #standingOf({ endpointId, standing }: Applicant): Standing {
    return this.#slow.has(endpointId) ? 'sluggish' : standing
  }

  /** Each standing's share includes those of the worse ones. */
  #freeFor(standing: Standing): number {
    const { prompt, unproven, sluggish } = this.#held
    const held = {
      sluggish,
      unproven: sluggish + unproven,
      prompt: sluggish + unproven + prompt,
    }
    const room = (of: Standing): number => Math.max(1, this.#max * shares[of]) - held[of]
    return Math.floor(
      standing === 'prompt' ? room('prompt') : Math.min(room(standing), room('prompt')),
    )
  }

  /** What has had no complete response for a second counts as sluggish, whatever it was before. */
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
