import type { EndpointRecord, Lease, Release } from '../../store/index.ts'
import { Lane, type LaneDeps } from './lane.ts'
import type { LeaseHolder } from './lease-keeper.ts'
import type { PreparedEndpoint } from './send.ts'

const maxLanes = 2000

export interface LaneSetDeps extends LaneDeps {
  /** Unseals the secrets that deliveries to an endpoint need. */
  readonly prepare: (endpoint: EndpointRecord) => Promise<PreparedEndpoint>
}

/** The delivery lanes of the endpoints that this node has leased. */
export class LaneSet implements LeaseHolder {
  readonly #deps: LaneSetDeps
  readonly #lanes = new Map<string, Lane>()
  /** Leased endpoints still being prepared. */
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

  /**
   * Closes the lanes of an organization's endpoints, the lane of one endpoint, or all lanes; returns the leases to
   * release.
   */
  closeStale(organizationId?: string, endpointId?: string): Release[] {
    const isStale = (endpoint: EndpointRecord): boolean =>
      (organizationId === undefined || endpoint.organizationId === organizationId) &&
      (endpointId === undefined || endpoint.id === endpointId)
    const stale: Release[] = []
    for (const endpoint of [...this.#opening].filter(isStale)) {
      stale.push({ id: endpoint.id, leaseToken: endpoint.leaseToken, restMs: 0 })
      this.#opening.delete(endpoint)
    }
    for (const lane of this.#lanes.values()) {
      if (!isStale(lane.endpoint)) continue
      stale.push(lane.release)
      this.close(lane)
    }
    return stale
  }

  // --- Called by the lease keeper ---

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
      // If the endpoint was dropped in the meantime, what was prepared may be stale.
      if (!this.#opening.has(endpoint)) return
      const lane = new Lane({ endpoint, prepared, leaseEndsAt }, this.#deps)
      const before = this.#lanes.get(endpoint.id)
      if (before) this.close(before)
      this.#lanes.set(endpoint.id, lane)
      await lane.fill()
    } catch (error) {
      // The lease expires by itself, and then the endpoint is tried again.
      this.#deps.onError(error)
    } finally {
      this.#opening.delete(endpoint)
    }
  }

  polled(): void {
    for (const lane of this.#lanes.values()) lane.wakeIfDue()
  }

  takeIdle(): Release[] {
    const idle = [...this.#lanes.values()].filter((lane) => lane.isIdle())
    for (const lane of idle) this.close(lane)
    return idle.map(({ release }) => release)
  }

  kept(kept: readonly Lease[], leaseEndsAt: number): void {
    for (const lease of kept) this.#under(lease)?.renewed(leaseEndsAt)
    for (const lane of this.#lanes.values()) lane.pump()
  }

  lost(lost: readonly Lease[]): void {
    for (const lease of lost) this.closeUnder(lease)
  }

  /** Finds a lane only under its current lease: a late result about an old lease must not affect a newer lane. */
  #under({ id, leaseToken }: Lease): Lane | undefined {
    const lane = this.#lanes.get(id)
    return lane?.endpoint.leaseToken === leaseToken ? lane : undefined
  }
}
