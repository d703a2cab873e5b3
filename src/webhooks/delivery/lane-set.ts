import type { EndpointRecord, Lease } from '../../store/index.ts'
import { Lane, type LaneDeps } from './lane.ts'
import type { LeaseHolder } from './lease-keeper.ts'
import type { PreparedEndpoint } from './send.ts'

const maxLanes = 2000

/** What varies. */
export interface LaneSetDeps extends LaneDeps {
  /** Opens what is sealed; rejects if the endpoint cannot be sent to now. */
  readonly prepare: (endpoint: EndpointRecord) => Promise<PreparedEndpoint>
}

/** The lanes of the endpoints that this node has leased. */
export class LaneSet implements LeaseHolder {
  readonly #deps: LaneSetDeps
  readonly #lanes = new Map<string, Lane>()
  /** Leased, and being prepared. */
  readonly #opening = new Set<EndpointRecord>()

  constructor(deps: LaneSetDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#lanes.size
  }

  find(endpointId: string): Lane | undefined {
    return this.#lanes.get(endpointId)
  }

  *ofOrganization(organizationId: string): Iterable<Lane> {
    for (const lane of this.#lanes.values()) {
      if (lane.endpoint.organizationId === organizationId) yield lane
    }
  }

  close(lane: Lane): void {
    lane.close()
    const { id } = lane.endpoint
    if (this.#lanes.get(id) === lane) this.#lanes.delete(id)
  }

  closeUnder(lease: Lease): void {
    const lane = this.#under(lease)
    if (lane) this.close(lane)
  }

  /** Closes the lanes of an organization's endpoints, or of one, or all; returns what was leased for them. */
  closeStale(organizationId?: string, endpointId?: string): EndpointRecord[] {
    const isStale = (endpoint: EndpointRecord): boolean =>
      (organizationId === undefined || endpoint.organizationId === organizationId) &&
      (endpointId === undefined || endpoint.id === endpointId)
    const stale = [...this.#opening].filter(isStale)
    for (const endpoint of stale) this.#opening.delete(endpoint)
    for (const lane of this.#lanes.values()) {
      if (!isStale(lane.endpoint)) continue
      stale.push(lane.endpoint)
      this.close(lane)
    }
    return stale
  }

  // --- What the lease keeper asks and tells ---

  room(): number {
    return maxLanes - this.#lanes.size
  }

  held(): EndpointRecord[] {
    return [...this.#lanes.values()].map(({ endpoint }) => endpoint)
  }

  async taken(endpoint: EndpointRecord, leaseEndsAt: number): Promise<void> {
    if (this.#lanes.get(endpoint.id)?.continueUnder(endpoint, leaseEndsAt)) return
    try {
      this.#opening.add(endpoint)
      const prepared = await this.#deps.prepare(endpoint)
      // Forgotten meanwhile: what was prepared may be stale.
      if (!this.#opening.has(endpoint)) return
      const lane = new Lane({ endpoint, prepared, leaseEndsAt }, this.#deps)
      const before = this.#lanes.get(endpoint.id)
      if (before) this.close(before)
      this.#lanes.set(endpoint.id, lane)
      await lane.fill()
    } catch (error) {
      // The lease runs out by itself; then it is tried again.
      this.#deps.onError(error)
    } finally {
      this.#opening.delete(endpoint)
    }
  }

  polled(): void {
    for (const lane of this.#lanes.values()) lane.wakeIfDue()
  }

  takeIdle(): Lease[] {
    const idle = [...this.#lanes.values()].filter((lane) => lane.isIdle())
    for (const lane of idle) this.close(lane)
    return idle.map(({ endpoint }) => endpoint)
  }

  kept(kept: readonly Lease[], leaseEndsAt: number): void {
    for (const lease of kept) this.#under(lease)?.renewed(leaseEndsAt)
    for (const lane of this.#lanes.values()) lane.pump()
  }

  lost(lost: readonly Lease[]): void {
    for (const lease of lost) this.closeUnder(lease)
  }

  /** The lane, if it is still there and by this lease: what comes late says nothing of a newer one. */
  #under({ id, leaseToken }: Lease): Lane | undefined {
    const lane = this.#lanes.get(id)
    return lane?.endpoint.leaseToken === leaseToken ? lane : undefined
  }
}
