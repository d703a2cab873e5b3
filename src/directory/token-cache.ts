import type { OrganizationId } from '../ids.ts'
import { directoryTokens, type KnownToken, type Store, type Tx } from '../store/index.ts'

const maxRemembered = 10_000

/** SCIM tokens in use, as the database last told of them; the change feed takes them out again. */
export interface TokenCache {
  /** The token with this digest, revoked ones too, from the database unless the memory may be trusted. */
  find(digest: string): Promise<KnownToken | undefined>
  /** The same in the middle of a work, for a token that has been found before. */
  findAgain(tx: Tx, organizationId: OrganizationId, id: string): Promise<KnownToken | undefined>
}

/** A memory that forgets an organization's tokens at every change of it or of its directory. */
export function createTokenCache(store: Store): TokenCache {
  const byDigest = new Map<string, KnownToken>()
  const byId = new Map<string, KnownToken>()
  // Counts changes, so that a read that overlaps one is not remembered.
  let generation = 0

  function forget(organizationId: OrganizationId | undefined): void {
    generation += 1
    for (const [digest, { token }] of byDigest) {
      if (organizationId === undefined || token.organizationId === organizationId) {
        byDigest.delete(digest)
        byId.delete(token.id)
      }
    }
  }

  for (const kind of ['directory', 'organization'] as const) {
    store.feed.on(
      kind,
      (change) => forget(change.organizationId as OrganizationId),
      () => forget(undefined),
    )
  }

  return {
    async find(digest) {
      const known = store.feed.isCurrent() ? byDigest.get(digest) : undefined
      if (known !== undefined) return known
      const before = generation
      const found = await directoryTokens.findByDigest(store, digest)
      if (found === undefined || found.token.revokedAt !== undefined) return found
      if (before === generation) {
        const [oldest] = byDigest
        if (byDigest.size >= maxRemembered && oldest !== undefined) {
          byDigest.delete(oldest[0])
          byId.delete(oldest[1].token.id)
        }
        byDigest.set(digest, found)
        byId.set(found.token.id, found)
      }
      return found
    },
    async findAgain(tx, organizationId, id) {
      const known = store.feed.isCurrent() ? byId.get(id) : undefined
      if (known !== undefined) return known
      // Not remembered: what a transaction sees may not be committed.
      const found = await directoryTokens.findById(tx, organizationId, id)
      return found?.token.revokedAt === undefined ? found : undefined
    },
  }
}
