import type { Clock } from '../clock.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'

export interface DirectoryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly sealer: Sealer
  /** The maximum number of active SCIM tokens per organization. */
  readonly maxTokens: number
  /** Milliseconds for which a cursor stays valid. */
  readonly cursorTimeoutMs: number
}
