import type { Clock } from '../../clock.ts'
import type { EndpointRecord, Lease } from '../../store/index.ts'
import type { DeliveryWork } from './work.ts'

const leaseMs = 10_000
const renewEveryMs = 3000
const pollEveryMs = 1000

/** Takes, keeps and gives back the leases of endpoints. */
export interface LeaseKeeper {
  start(): void
  /** Somebody has published in an organization: its endpoints are looked at now. */
  look(organizationId: string): void
  release(leases: readonly Lease[]): Promise<void>
  /** Resolves when the search under way, if there is one, has told what it took. */
  known(): Promise<void>
  /** Takes no more; resolves when nothing is being taken. */
  stop(): Promise<void>
}

/** What varies, and what the dispatcher does with leases. Times are monotonic milliseconds. */
export interface LeaseKeeperDeps {
  readonly work: DeliveryWork
  readonly clock: Clock
  readonly random: () => number
  readonly after: (ms: number, call: () => void) => () => void
  readonly onError: (error: unknown) => void
  /** How many more endpoints this node can take. */
  readonly room: () => number
  readonly onTaken: (endpoint: EndpointRecord, leaseEndsAt: number) => Promise<void>
  /** Every second: the truth, whatever hints got lost. */
  readonly onPoll: () => void
  /** Leases that are needed no longer; they are forgotten by this. */
  readonly takeIdle: () => Lease[]
  readonly held: () => Lease[]
  readonly onKept: (kept: readonly Lease[], leaseEndsAt: number) => void
  /** These hold no longer; their endpoints may be ours by newer ones, which have been told before. */
  readonly onLost: (lost: readonly Lease[]) => void
}

/** A keeper that polls, and looks at once where it is told to. */
export function createLeaseKeeper(deps: LeaseKeeperDeps): LeaseKeeper {
  const { work, clock } = deps
  const hinted = new Set<string>()
  let everywhere = false
  let stopped = false
  let leasing: Promise<void> | undefined
  let cancelPoll: (() => void) | undefined
  let cancelRenew: (() => void) | undefined

  function poll(): void {
    if (stopped) return
    everywhere = true
    void leaseSoon()
    deps.onPoll()
    cancelPoll = deps.after(pollEveryMs * (0.9 + 0.2 * deps.random()), poll)
  }

  async function leaseSoon(): Promise<void> {
    // One search at a time; what comes meanwhile is found by the next.
    leasing ??= leaseMore().finally(() => {
      leasing = undefined
      if (!stopped && (hinted.size > 0 || everywhere) && deps.room() > 0) void leaseSoon()
    })
    await leasing
  }

  async function leaseMore(): Promise<void> {
    const organizationIds = everywhere ? undefined : [...hinted]
    hinted.clear()
    everywhere = false
    const limit = deps.room()
    if (stopped || limit <= 0) return
    const endsAt = clock.monotonic() + leaseMs
    try {
      const taken = await work.lease({ limit, ttlMs: leaseMs, organizationIds })
      await Promise.all(taken.map(async (endpoint) => await deps.onTaken(endpoint, endsAt)))
    } catch (error) {
      deps.onError(error)
    }
  }

  async function renew(): Promise<void> {
    const endsAt = clock.monotonic() + leaseMs
    const idle = deps.takeIdle()
    try {
      if (idle.length > 0) await work.release(idle)
      const leases = deps.held()
      if (leases.length > 0) {
        const kept = await work.renew({ leases, ttlMs: leaseMs })
        deps.onKept(
          leases.filter(({ id }) => kept.has(id)),
          endsAt,
        )
        const lost = leases.filter(({ id }) => !kept.has(id))
        if (lost.length > 0) void known().then(() => deps.onLost(lost))
      }
    } catch (error) {
      deps.onError(error)
    }
    if (!stopped) cancelRenew = deps.after(renewEveryMs, () => void renew())
  }

  async function known(): Promise<void> {
    await leasing
  }

  return {
    start() {
      poll()
      cancelRenew = deps.after(renewEveryMs, () => void renew())
    },
    look(organizationId) {
      hinted.add(organizationId)
      void leaseSoon()
    },
    async release(leases) {
      try {
        await work.release(leases)
      } catch (error) {
        // They run out by themselves.
        deps.onError(error)
      }
    },
    known,
    async stop() {
      stopped = true
      cancelPoll?.()
      cancelRenew?.()
      await leasing
    },
  }
}
