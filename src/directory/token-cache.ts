import type { OrganizationId } from '../ids.ts'
import { directoryTokens, FeedCache, type KnownToken, type Store, type Tx } from '../store/index.ts'

const maxRemembered = 10_000

/** SCIM tokens in use, as the database last told of them; the change feed takes them out again. */
export interface TokenCache {
  /** The token with this digest, revoked ones too, from the database unless the memory may be trusted. */
  find(digest: string): Promise<KnownToken | undefined>
  /** The same in the middle of a work, for a token that has been found before. */
  findAgain(tx: Tx, organizationId: OrganizationId, id: string): Promise<KnownToken | undefined>
}

/** A cache that forgets an organization's tokens at every change of it or of its directory. */
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
      // Not remembered: what a transaction sees may not be committed.
      const found = await directoryTokens.findById(tx, organizationId, id)
      return found?.token.revokedAt === undefined ? found : undefined
    },
  }
}
