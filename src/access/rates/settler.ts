import { nextTurn } from '../../timers.ts'
import { isLockWaitTooLong } from '../../store/index.ts'
import type { ShareRequest } from './deal.ts'
import type { Holding } from './holding.ts'

// How many requests to settle in one transaction: few enough that other nodes soon get the row locks.
const maxSettled = 64
// How many holdings to examine before yielding to the event loop: few enough that calls are not delayed.
const maxLookedAt = 2048
// How long a claim is tried again while another node's lock keeps it waiting, in milliseconds.
const patienceMs = 3000

type Requests = readonly (readonly [Holding, ShareRequest])[]

export interface SettlerDeps {
  /** Settles requests in one transaction, and applies the result. */
  readonly settle: (requests: Requests) => Promise<void>
  readonly claimOf: (holding: Holding) => ShareRequest
  /** Whether this is still the node's holding for its subject; the node may have dropped it and created another. */
  readonly isCurrent: (holding: Holding) => boolean
  /** Returns the time of a monotonic clock, in milliseconds. */
  readonly monotonic: () => number
}

interface Claim extends PromiseWithResolvers<void> {
  readonly holding: Holding
  readonly madeAt: number
}

/**
 * Settles requests for shares in batches, one transaction after another. When calls of thousands of keys arrive at
 * once, few transactions suffice. No two transactions overlap, so the latest one says what this node holds.
 */
export class Settler {
  readonly #deps: SettlerDeps
  /** Keyed by subject, because no two requests of one transaction may be about the same rows. */
  readonly #claims = new Map<string, Claim>()
  #isSettling = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  /** Resolves when the claim is settled, or when the node has dropped the holding. */
  async claim(holding: Holding): Promise<void> {
    const { id } = holding.subject
    const known = this.#claims.get(id)
    if (known?.holding === holding) return await known.promise
    // The earlier claim is for a holding that the node has dropped since, so its waiters must ask again with the new
    // holding.
    known?.resolve()
    const madeAt = this.#deps.monotonic()
    const claim = { holding, madeAt, ...Promise.withResolvers<void>() }
    this.#claims.set(id, claim)
    if (!this.#isSettling) void this.#settleClaims()
    await claim.promise
  }

  /** Settles the request of each holding that has one; batches of claims may run in between. */
  async settleAll(
    holdings: readonly Holding[],
    requestOf: (holding: Holding) => ShareRequest | undefined,
  ): Promise<void> {
    for (let at = 0; at < holdings.length;) {
      await this.inTurn(async () => {
        const requests: [Holding, ShareRequest][] = []
        const end = Math.min(holdings.length, at + maxLookedAt)
        for (; at < end && requests.length < maxSettled; at++) {
          const holding = holdings[at]
          const request = holding && requestOf(holding)
          if (holding && request) requests.push([holding, request])
        }
        if (requests.length > 0) await this.#deps.settle(requests)
        else await nextTurn()
      })
    }
  }

  async #settleClaims(): Promise<void> {
    this.#isSettling = true
    // Claims made in the same turn of the event loop join this batch.
    await nextTurn()
    while (this.#claims.size > 0) await this.inTurn(async () => await this.#settleSome())
    this.#isSettling = false
  }

  async #settleSome(): Promise<void> {
    const some = [...this.#claims.values()].slice(0, maxSettled)
    for (const { holding } of some) this.#claims.delete(holding.subject.id)
    const current = some.filter(({ holding }) => this.#deps.isCurrent(holding))
    try {
      if (current.length > 0) {
        await this.#deps.settle(
          current.map(({ holding }) => [holding, this.#deps.claimOf(holding)] as const),
        )
      }
      for (const { resolve } of some) resolve()
    } catch (error) {
      for (const claim of some) this.#failed(claim, error)
    }
  }

  /**
   * Requeues a claim that failed only because it waited too long for a lock, behind the work that is already waiting. A
   * retry within the same turn would hold up the node's ticks, which renew its lease.
   */
  #failed(claim: Claim, error: unknown): void {
    const { id } = claim.holding.subject
    const isPatient = this.#deps.monotonic() - claim.madeAt < patienceMs
    if (!isPatient || !isLockWaitTooLong(error)) claim.reject(error)
    else if (this.#claims.has(id)) claim.resolve()
    else this.#claims.set(id, claim)
  }

  /** Runs this work after all earlier work has ended, even if that failed. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return await turn
  }
}
