import type { ShareRequest } from './deal.ts'
import type { Holding } from './holding.ts'

// Few enough that the rows are soon free for other nodes.
const maxSettled = 256
// Few enough that calls do not wait for a look at each of them.
const maxLookedAt = 2048

type Requests = readonly (readonly [Holding, ShareRequest])[]

/** What the settler is given. */
export interface SettlerDeps {
  /** Settles requests in one transaction, and applies the outcome. */
  readonly settle: (requests: Requests) => Promise<void>
  readonly claimOf: (holding: Holding) => ShareRequest
}

/**
 * Settles requests for shares some at a time, one transaction after the other: a node that meets thousands of keys at
 * once asks for their shares together, and the outcome of the last transaction is what the node holds.
 */
export class Settler {
  readonly #deps: SettlerDeps
  readonly #claims = new Set<Holding>()
  #claimed: Promise<void> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: SettlerDeps) {
    this.#deps = deps
  }

  /** Claims a share, together with all others that are claimed until its turn. */
  async claim(holding: Holding): Promise<void> {
    this.#claims.add(holding)
    while (this.#claims.has(holding)) await (this.#claimed ??= this.#settleClaims())
  }

  /** Settles what each holding requests, if anything; claims may come in between. */
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
    // Calls that come in this turn of the loop belong to the same batch.
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
