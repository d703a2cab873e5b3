import { AsyncLocalStorage } from 'node:async_hooks'
import type { Tx } from '../db/db.ts'

type Companion = (tx: Tx) => Promise<void>

/** What transactions do besides their own work, told by whoever runs them from far above. */
export function createCompanions(): {
  run<T>(companion: Companion, work: () => Promise<T>): Promise<T>
  /** A work that also does the companion of who asks for it, if it records an audit entry. */
  accompany<T>(work: (tx: Tx) => Promise<T>): (tx: Tx) => Promise<T>
} {
  const present = new AsyncLocalStorage<Companion>()
  return {
    run: async (companion, work) => await present.run(companion, work),
    accompany(work) {
      // Asked for here: a shared commit runs the work on behalf of somebody else.
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
