import { digestToHex, type DigestBytes } from '../secrets/index.ts'
import { keyCallers, type CallRecord, type Store } from '../store/index.ts'

const maxWaiting = 2000

/**
 * Remembers the callers that still use an old secret, by address and user agent, until they are written to the store.
 */
export interface OldSecretCallers {
  readonly size: number
  note(digest: DigestBytes, call: CallRecord): void
  /** Writes the remembered callers, and keeps them if that fails. */
  write(store: Store): Promise<void>
}

type Use = { -readonly [K in keyof keyCallers.OldSecretUse]: keyCallers.OldSecretUse[K] }

/** Remembers up to 2000 callers; others are left out until the next write. */
export function createOldSecretCallers(): OldSecretCallers {
  let noted = new Map<string, Use>()

  function note(digest: DigestBytes, call: CallRecord): void {
    const { address, agent = '' } = call
    const hex = digestToHex(digest)
    const name = `${hex} ${address} ${agent}`
    const known = noted.get(name)
    if (known !== undefined) {
      known.calls++
      known.lastSeenAt = Math.max(known.lastSeenAt, call.at)
      known.targetId = call.targetId
    } else if (noted.size < maxWaiting) {
      const { organizationId, keyId, targetId, at } = call
      const seen = { calls: 1, firstSeenAt: at, lastSeenAt: at }
      noted.set(name, {
        digest: hex,
        address,
        agent,
        organizationId,
        keyId,
        targetId,
        ...seen,
      })
    }
  }

  return {
    get size() {
      return noted.size
    },
    note,
    async write(store) {
      if (noted.size === 0) return
      const batch = noted
      noted = new Map()
      try {
        // All nodes use the same order, so they can't deadlock on each other's rows.
        const uses = [...batch].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, use]) => use)
        await store.transaction(async (tx) => await keyCallers.noteOldSecretUses(tx, uses))
      } catch (error) {
        for (const [name, use] of batch) {
          const later = noted.get(name)
          if (later === undefined) noted.set(name, use)
          else {
            later.calls += use.calls
            later.firstSeenAt = use.firstSeenAt
          }
        }
        throw error
      }
    },
  }
}
