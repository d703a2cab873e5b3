import type { Clock } from '../clock.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'

/** What directories need from the rest of the product. */
export interface DirectoryDeps {
  readonly store: Store
  readonly clock: Clock
  readonly sealer: Sealer
  /** Active SCIM tokens of an organization, at most. */
  readonly maxTokens: number
  /** Milliseconds for which a cursor stays good. */
  readonly cursorTimeoutMs: number
}
