import { AsyncLocalStorage } from 'node:async_hooks'
import type { Tx } from '../db/db.ts'

type Companion = (tx: Tx) => Promise<void>

/** Lets a caller attach additional work to the transactions that run further down its call stack. */
export function createCompanions(): {
  run<T>(companion: Companion, work: () => Promise<T>): Promise<T>
  /** Wraps a unit of work: if the work records an audit entry, the caller's companion runs after the work. */
  accompany<T>(work: (tx: Tx) => Promise<T>): (tx: Tx) => Promise<T>
} {
  const present = new AsyncLocalStorage<Companion>()
  return {
    run: async (companion, work) => await present.run(companion, work),
    accompany(work) {
      // Read the context now: a shared commit may later run this work in another caller's context.
      const companion = present.getStore()
      if (companion === undefined) return work
      return async (tx) => {
        let audited = false
        const watched: Tx = {
          ...tx,
          audit(draft) {
            audited = true
            tx.audit(draft)
          },
        }
        const result = await work(watched)
        if (audited) await companion(tx)
        return result
      }
    },
  }
}
