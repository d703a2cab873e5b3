import type { OrganizationId } from '../ids.ts'
import { directoryTokens, FeedCache, type KnownToken, type Store, type Tx } from '../store/index.ts'

const maxRemembered = 10_000

/** A cache of SCIM tokens; the change feed drops outdated ones. */
export interface TokenCache {
  /**
   * Finds the token with this digest, even a revoked one. Reads the database if the token is not cached or the change
   * feed is not current.
   */
  find(digest: string): Promise<KnownToken | undefined>
  /** Finds a token by id inside a transaction; undefined if it was revoked. */
  findAgain(tx: Tx, organizationId: OrganizationId, id: string): Promise<KnownToken | undefined>
}

/**
 * Creates a cache that drops an organization's tokens when one of them is revoked and when the organization changes.
 */
export function createTokenCache(store: Store): TokenCache {
  const cache = new FeedCache<KnownToken>({
    feed: store.feed,
    capacity: maxRemembered,
    read: async (digest) => await directoryTokens.findByDigest(store, digest),
    subjectsOf: ({ token }) => [token.id, token.organizationId],
    forgets: {
      directory: ({ organizationId }) => organizationId,
      organization: ({ organizationId }) => organizationId,
    },
    isKept: ({ token }) => token.revokedAt === undefined,
  })
  return {
    find: async (digest) => await cache.find(digest),
    async findAgain(tx, organizationId, id) {
      const known = cache.peekOf(id)
      if (known !== undefined) return known
      // Not remembered, because the transaction may still roll back.
      const found = await directoryTokens.findById(tx, organizationId, id)
      return found?.token.revokedAt === undefined ? found : undefined
    },
  }
}
