import type { Clock } from '../clock.ts'
import type { UserId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store, Transaction } from '../store/index.ts'

/** What directories need of the rest of the house. */
export interface DirectoryNeeds {
  readonly store: Store
  readonly clock: Clock
  readonly sealer: Sealer
  /** Ends all sessions of a person within a transaction that does more; which they were. */
  readonly endSessions: (
    tx: Transaction,
    userId: UserId,
    why: { by: string | undefined; reason: string },
  ) => Promise<readonly { readonly id: string }[]>
  /** Active SCIM tokens of an organization, at most. */
  readonly mostTokens: number
  /** Milliseconds for which a cursor stays good. */
  readonly cursorTimeoutMs: number
}
