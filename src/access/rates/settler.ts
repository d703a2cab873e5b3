import type { ShareRequest } from './deal.ts'
import type { Holding } from './holding.ts'

// How many requests to settle in one transaction: few enough that other nodes soon get the row locks.
const maxSettled = 256
// How many holdings to examine before yielding to the event loop: few enough that calls are not delayed.
const maxLookedAt = 2048

type Requests = readonly (readonly [Holding, ShareRequest])[]

/** The dependencies of the settler. */
export interface SettlerDeps {
  /** Settles requests in one transaction, and applies the result. */
  readonly settle: (requests: Requests) => Promise<void>
  readonly claimOf: (holding: Holding) => ShareRequest
}

/**
 * Settles requests for shares in batches, one transaction after another: when calls of thousands of keys arrive at
 * once, few transactions suffice, and the result of the last one is what the node holds.
 */
export class Settler {
  readonly #deps: SettlerDeps
  readonly #claims = new Set<Holding>()
  #claimed: Promise<void> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  /** Claims a share, in one batch with all others that are claimed before that batch starts. */
  async claim(holding: Holding): Promise<void> {
    this.#claims.add(holding)
    while (this.#claims.has(holding)) await (this.#claimed ??= this.#settleClaims())
  }

  /** Settles the request of each holding that has one; batches of claims may run in between. */
  async settleAll(
    holdings: readonly Holding[],
    requestOf: (holding: Holding) => ShareRequest | undefined,
  ): Promise<void> {
    for (let at = 0; at < holdings.length;) {
      await this.#inTurn(async () => {
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
    // Claims made in the same turn of the event loop join this batch.
    await nextTurn()
    await this.#inTurn(async () => {
      this.#claimed = undefined
      const some = [...this.#claims].slice(0, maxSettled)
      for (const holding of some) this.#claims.delete(holding)
      await this.#deps.settle(some.map((holding) => [holding, this.#deps.claimOf(holding)]))
    })
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    await turn
  }
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
