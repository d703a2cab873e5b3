import { digestToHex, type DigestBytes } from '../secrets/index.ts'
import { keySecrets, type CallRecord, type KeyUse, type Store } from '../store/index.ts'
import { createOldSecretCallers } from './old-secret-callers.ts'

export interface UsedSecret {
  readonly digest: DigestBytes
  /** Whether this is the old secret of a rotated key. Such a secret is valid only for a while. */
  readonly isOldSecret: boolean
}

const everyMs = 2000
// Few, because a revocation of one of these keys waits until the commit.
const usesInCommit = 64

/** Tracks when, where and by whom secrets were last used, and who still uses old ones. */
export class KeyUses {
  readonly #store: Store
  readonly #clock: { monotonic(): number }
  readonly #oldSecretCallers = createOldSecretCallers()
  #last = new Map<DigestBytes, CallRecord>()
  #dueAt = -Infinity

  constructor(store: Store, clock: { monotonic(): number }) {
    this.#store = store
    this.#clock = clock
  }

  note(secret: UsedSecret, entry: CallRecord): void {
    this.#last.set(secret.digest, entry)
    if (secret.isOldSecret) this.#oldSecretCallers.note(secret.digest, entry)
  }

  /**
   * Writes at most every two seconds, unless `now` is set or the last write failed. A use that could not be written is
   * retried, unless a later use of the same secret has replaced it.
   */
  async write(now: boolean): Promise<void> {
    const nowMs = this.#clock.monotonic()
    const isEmpty = this.#last.size === 0 && this.#oldSecretCallers.size === 0
    if (isEmpty || (!now && nowMs < this.#dueAt)) return
    this.#dueAt = nowMs + everyMs
    try {
      await this.#writeUses()
      await this.#oldSecretCallers.write(this.#store)
    } catch (error) {
      this.#dueAt = -Infinity
      throw error
    }
  }

  async #writeUses(): Promise<void> {
    // All nodes write keys and their secrets in the same order, to avoid deadlocks on their rows.
    const waiting = [...this.#last].toSorted(
      ([digest, { keyId }], [otherDigest, other]) =>
        compare(keyId, other.keyId) || compare(digestToHex(digest), digestToHex(otherDigest)),
    )
    this.#last = new Map()
    try {
      for (let part = waiting.slice(0, usesInCommit); part.length > 0;) {
        const uses = part.map(([digest, entry]) => useOf(digest, entry))
        await this.#store.transactionThatMayBeLost(
          async (tx) => await keySecrets.noteUses(tx, uses),
        )
        waiting.splice(0, part.length)
        part = waiting.slice(0, usesInCommit)
      }
    } catch (error) {
      for (const [digest, entry] of waiting) {
        if (!this.#last.has(digest)) this.#last.set(digest, entry)
      }
      throw error
    }
  }
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function useOf(digest: DigestBytes, entry: CallRecord): KeyUse {
  return {
    organizationId: entry.organizationId,
    keyId: entry.keyId,
    digest: digestToHex(digest),
    at: entry.at,
    address: entry.address,
    agent: entry.agent,
    targetId: entry.targetId,
  }
}
