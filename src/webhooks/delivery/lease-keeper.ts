import type { Clock } from '../../clock.ts'
import type { EndpointRecord, Lease, Release } from '../../store/index.ts'
import { idleTurnMs } from '../../timers.ts'
import type { DeliveryWork } from './work.ts'

const leaseMs = 10_000
const renewEveryMs = 3000
const pollEveryMs = 1000
// A node that has leased nothing for a while searches less often, because searching is most of what an idle node does.
const idleAfterMs = 20_000

export interface LeaseKeeperDeps {
  readonly work: DeliveryWork
  readonly clock: Clock
  readonly random: () => number
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
}

/** The user of the leases; times are monotonic milliseconds. */
export interface LeaseHolder {
  /** How many more endpoints this node can lease. */
  room(): number
  taken(endpoint: EndpointRecord, leaseEndsAt: number): Promise<void>
  /** Called at least every three seconds, so that nothing depends on hints, which may get lost. */
  polled(): void
  /** Returns the leases that are no longer needed and forgets them. */
  takeIdle(): Release[]
  held(): Lease[]
  kept(kept: readonly Lease[], leaseEndsAt: number): void
  /** The endpoints of lost leases may already have newer leases, which are reported first. */
  lost(lost: readonly Lease[]): void
}

/** Takes, renews and releases leases. */
export class LeaseKeeper {
  readonly #deps: LeaseKeeperDeps
  readonly #holder: LeaseHolder
  readonly #hinted = new Set<string>()
  #everywhere = false
  /** When this node last leased an endpoint or, before it has leased any, when it started; monotonic milliseconds. */
  #leasedAt = Number.NEGATIVE_INFINITY
  #isStopped = false
  #leasing: Promise<void> | undefined
  #cancelPoll: (() => void) | undefined
  #cancelRenew: (() => void) | undefined

  constructor(deps: LeaseKeeperDeps, holder: LeaseHolder) {
    this.#deps = deps
    this.#holder = holder
  }

  start(): void {
    this.#leasedAt = this.#deps.clock.monotonic()
    this.#poll()
    this.#renewLater()
  }

  /** Looks for endpoints to lease in an organization without waiting for the next poll. */
  look(organizationId: string): void {
    this.#hinted.add(organizationId)
    void this.#leaseSoon()
  }

  async release(leases: readonly Release[]): Promise<void> {
    try {
      await this.#deps.work.release(leases)
    } catch (error) {
      // Leases that are not released expire by themselves.
      this.#deps.onError(error)
    }
  }

  /** Resolves once a search in progress, if any, has reported what it leased. */
  async known(): Promise<void> {
    await this.#leasing
  }

  /** Takes no more leases; resolves when no search is running. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelPoll?.()
    this.#cancelRenew?.()
    await this.#leasing
  }

  #poll(): void {
    if (this.#isStopped) return
    const { after, clock, random } = this.#deps
    this.#everywhere = true
    void this.#leaseSoon()
    this.#holder.polled()
    const isIdle = clock.monotonic() - this.#leasedAt > idleAfterMs
    // An idle node searches together with its other background work, which must not be made earlier for it.
    const waitMs = isIdle ? idleTurnMs * (1 + 0.1 * random()) : pollEveryMs * (0.9 + 0.2 * random())
    this.#cancelPoll = after(waitMs, () => this.#poll())
  }

  async #leaseSoon(): Promise<void> {
    // Only one search runs at a time; the next one finds whatever this one misses.
    this.#leasing ??= this.#leaseMore().finally(() => {
      this.#leasing = undefined
      const isMore = this.#hinted.size > 0 || this.#everywhere
      if (!this.#isStopped && isMore && this.#holder.room() > 0) void this.#leaseSoon()
    })
    await this.#leasing
  }

  async #leaseMore(): Promise<void> {
    const { work, clock, onError } = this.#deps
    const organizationIds = this.#everywhere ? undefined : [...this.#hinted]
    this.#hinted.clear()
    this.#everywhere = false
    const limit = this.#holder.room()
    if (this.#isStopped || limit <= 0) return
    const endsAt = clock.monotonic() + leaseMs
    try {
      const taken = await work.lease({ limit, ttlMs: leaseMs, organizationIds })
      if (taken.length > 0) this.#leasedAt = clock.monotonic()
      await Promise.all(taken.map(async (endpoint) => await this.#holder.taken(endpoint, endsAt)))
    } catch (error) {
      onError(error)
    }
  }

  #renewLater(): void {
    this.#cancelRenew = this.#deps.after(renewEveryMs, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    const { work, clock, onError } = this.#deps
    const endsAt = clock.monotonic() + leaseMs
    const idle = this.#holder.takeIdle()
    try {
      if (idle.length > 0) await work.release(idle)
      const leases = this.#holder.held()
      if (leases.length > 0) {
        const kept = await work.renew({ leases, ttlMs: leaseMs })
        this.#holder.kept(
          leases.filter(({ id }) => kept.has(id)),
          endsAt,
        )
        const lost = leases.filter(({ id }) => !kept.has(id))
        if (lost.length > 0) void this.known().then(() => this.#holder.lost(lost))
      }
    } catch (error) {
      onError(error)
    }
    if (!this.#isStopped) this.#renewLater()
  }
}
