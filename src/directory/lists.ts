import type { OrganizationId } from '../ids.ts'
import { digest } from '../secrets/index.ts'
import {
  directoryLists,
  directoryWalks,
  type Db,
  type DirectoryPlace,
  type DirectoryQuery,
} from '../store/index.ts'
import type { DirectoryDeps } from './deps.ts'

/** What is listed: users or groups. */
export type DirectoryKind = 'user' | 'group'

/** Who lists what. */
export interface DirectoryListing {
  readonly organizationId: OrganizationId
  readonly tokenId: string
  readonly kind: DirectoryKind
  readonly query: DirectoryQuery
  /** The query as it was asked, the same on every page: filter, order, count. */
  readonly asked: string
}

/** A page of ids. */
export interface DirectoryPage {
  readonly ids: readonly string[]
  readonly total: number
  readonly nextCursor: string | undefined
}

/** Lists by index and by cursor (RFC 7644 section 3.4.2.4, RFC 9865). */
export interface DirectoryLists {
  /**
   * The page that begins at an index (from 1). The page after one that this token has just read begins behind that
   * one's last resource, so that a walk loses nobody while others are deleted; its total counts what the walk has seen.
   */
  byIndex(listing: DirectoryListing, index: number, count: number): Promise<DirectoryPage>
  /** For people's pages: ids in the order of their arrival, behind a position (0: the first). */
  byPosition(
    organizationId: OrganizationId,
    kind: DirectoryKind,
    after: number,
    count: number,
  ): Promise<string[]>
  /** How many users and groups there are. */
  totals(organizationId: OrganizationId): Promise<{ users: number; groups: number }>
  /** The page behind a cursor (`''`: the first); 'invalid' for one that is not ours or of another query, 'expired'. */
  byCursor(
    listing: DirectoryListing,
    cursor: string,
    count: number,
  ): Promise<DirectoryPage | 'invalid' | 'expired'>
  /** Deletes what is remembered of walks that nobody goes on with. */
  forget(): Promise<void>
}

/** Opens the lists' rules. */
export function createDirectoryLists(deps: DirectoryDeps): DirectoryLists {
  const { store, sealer, clock } = deps

  async function places(
    listing: DirectoryListing,
    page: { after: DirectoryPlace | undefined; offset: number; limit: number },
  ): Promise<{ id: string; place: DirectoryPlace }[]> {
    const { organizationId, query } = listing
    const at = await readerFor(listing)
    return await directoryLists.listPlaces(at, {
      table: tableOf(listing),
      organizationId,
      query,
      page,
    })
  }

  async function total(listing: DirectoryListing, after?: DirectoryPlace): Promise<number> {
    const { organizationId, query } = listing
    const at = await readerFor(listing)
    return await directoryLists.countPlaces(at, {
      table: tableOf(listing),
      organizationId,
      query,
      after,
    })
  }

  // What looks at every row of many must not hold up whoever else is served here.
  async function readerFor({ organizationId, query }: DirectoryListing): Promise<Db> {
    if (!directoryLists.readsAll(query)) return store
    const users = await directoryLists.countPlaces(store, {
      table: 'directory_user',
      organizationId,
      query: plain,
      after: undefined,
    })
    return users > fewUsers ? store.slowReads : store
  }

  function context(listing: DirectoryListing): string[] {
    return ['directory-cursor', listing.organizationId, listing.kind, digest(listing.asked)]
  }

  return {
    forget: async () => await store.transactionOnCalls(directoryWalks.forgetOld),
    async byIndex(listing, index, count) {
      const key = {
        tokenId: listing.tokenId,
        queryDigest: digest(`${listing.kind} ${listing.asked}`),
      }
      const after = index > 1 ? await directoryWalks.find(store.calls, key, index) : undefined
      const found = await places(listing, { after, offset: index - 1, limit: count + 1 })
      const page = found.slice(0, count)
      const last = page.at(-1)
      const hasMore = found.length > count
      if (hasMore && last !== undefined) {
        const from = after === undefined ? undefined : { index, place: after }
        const next = { index: index + page.length, place: last.place }
        await store.transactionOnCalls(
          async (tx) => await directoryWalks.note(tx, key, { next, from }),
        )
      }
      return { ids: page.map((each) => each.id), total: await totalOf(), nextCursor: undefined }

      async function totalOf(): Promise<number> {
        if (after !== undefined) return index - 1 + (await total(listing, after))
        // The first page holds everything: nothing is left to be counted.
        return index === 1 && count > 0 && !hasMore ? page.length : await total(listing)
      }
    },
    async byPosition(organizationId, kind, after, count) {
      const table = kind === 'user' ? 'directory_user' : 'directory_group'
      const page = { after: { rank: 0, key: '', position: after }, offset: 0, limit: count }
      const found = await directoryLists.listPlaces(store, {
        table,
        organizationId,
        query: plain,
        page,
      })
      return found.map((each) => each.id)
    },
    async totals(organizationId) {
      const count = async (table: 'directory_user' | 'directory_group'): Promise<number> =>
        await directoryLists.countPlaces(store, {
          table,
          organizationId,
          query: plain,
          after: undefined,
        })
      return { users: await count('directory_user'), groups: await count('directory_group') }
    },
    async byCursor(listing, cursor, count) {
      let start: Opened | undefined
      if (cursor !== '') {
        try {
          start = JSON.parse(sealer.open(cursor, context(listing))) as Opened
        } catch {
          return 'invalid'
        }
        if (clock.now() - start.at > deps.cursorTimeoutMs) return 'expired'
      }
      const after = start?.place
      const found = await places(listing, { after, offset: 0, limit: count + 1 })
      const page = found.slice(0, count)
      const last = page.at(-1)
      const seen = start?.seen ?? 0
      const next: Opened | undefined =
        found.length > count && last !== undefined
          ? { place: last.place, seen: seen + page.length, at: clock.now() }
          : undefined
      return {
        ids: page.map((each) => each.id),
        total: after === undefined ? await total(listing) : seen + (await total(listing, after)),
        nextCursor: next && sealer.seal(JSON.stringify(next), context(listing)),
      }
    },
  }
}

const fewUsers = 2000
const plain: DirectoryQuery = { condition: undefined, sort: undefined }

/** What a cursor holds, sealed. */
interface Opened {
  readonly place: DirectoryPlace
  /** Resources of the pages before. */
  readonly seen: number
  readonly at: number
}

function tableOf(listing: DirectoryListing): 'directory_user' | 'directory_group' {
  return listing.kind === 'user' ? 'directory_user' : 'directory_group'
}
