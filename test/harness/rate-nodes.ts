import { SharedRates } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { createId } from '../../src/ids.ts'
import type { Rate } from '../../src/rate.ts'
import type { Store } from '../../src/store/index.ts'
import { until } from './webhooks.ts'

/** The rate that `pass` applies if it is given none. */
export const rate: Rate = { calls: 100, perSeconds: 1, burst: 20 }

/** A node's rates, without the rest of the node. */
export interface RatesNode extends AsyncDisposable {
  readonly rates: SharedRates
  pass(subject: Subject, of?: Rate): Promise<boolean>
  /** Stops without cleaning up, like a killed process. */
  die(): void
}

export type Subject = ReturnType<typeof subjectForTests>

export function subjectForTests() {
  return { id: createId('key'), organizationId: createId('org') }
}

export async function nodeOver(store: Store): Promise<RatesNode> {
  let isDead = false
  const alive = {
    ...store,
    transactionOnCalls: async <T>(work: Parameters<typeof store.transactionOnCalls<T>>[0]) =>
      isDead ? await new Promise<never>(() => undefined) : await store.transactionOnCalls(work),
  }
  const rates = new SharedRates({ store: alive, clock: systemClock, onError: () => undefined })
  await rates.start()
  return {
    rates,
    async pass(subject, of = rate) {
      let verdict = rates.ask({ subject, rate: of })
      while (verdict instanceof Promise) {
        await verdict
        verdict = rates.ask({ subject, rate: of })
      }
      if (verdict.admitted) rates.spend({ subject, rate: of })
      return verdict.admitted
    },
    die() {
      isDead = true
    },
    [Symbol.asyncDispose]: async () => await rates[Symbol.asyncDispose](),
  }
}

/** Creates nodes that know of each other. */
export async function nodesOver(stores: readonly Store[]) {
  const list: RatesNode[] = []
  for (const store of stores) list.push(await nodeOver(store))
  // The feed counts the nodes of one store as a single process, so a node may believe that it is alone. Announce
  // another node, so that all of them share.
  for (const store of new Set(stores)) {
    await store.transaction(async (tx) => {
      await Promise.resolve()
      tx.changed({ kind: 'node', organizationId: 'system', subjectId: 'node_other' })
    })
  }
  await until(() => list.every(({ rates }) => rates.state().nodes === list.length), 'all joined')
  return {
    list,
    [Symbol.asyncDispose]: async () => {
      for (const node of list) await node[Symbol.asyncDispose]()
    },
  }
}
