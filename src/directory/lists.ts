import type { OrganizationId } from '../ids.ts'
import { digest } from '../secrets/index.ts'
import {
  directoryLists,
  directoryUsers,
  directoryWalks,
  type Db,
  type DirectoryPlace,
  type DirectoryQuery,
  type InStep,
} from '../store/index.ts'
import type { DirectoryDeps } from './deps.ts'

export type DirectoryKind = 'user' | 'group'

/** Selects the resources to list, and names the caller. */
export interface DirectoryListing {
  readonly organizationId: OrganizationId
  readonly tokenId: string
  readonly kind: DirectoryKind
  readonly query: DirectoryQuery
  /** The query (filter, order, count) as requested, which must be the same for every page. */
  readonly asked: string
}

/** One page of a listing: the ids of its resources, and the total over all pages. */
export interface DirectoryPage {
  readonly ids: readonly string[]
  readonly total: number
  readonly nextCursor: string | undefined
}

const fewUsers = 2000
const everybody: DirectoryQuery = { condition: undefined, sort: undefined }

/** The content of a cursor, which is sealed. */
interface Opened {
  readonly place: DirectoryPlace
  /** The number of resources on earlier pages. */
  readonly seen: number
  readonly at: number
}

const tables = { user: 'directory_user', group: 'directory_group' } as const

/** Lists users and groups by index and by cursor (RFC 7644 section 3.4.2.4, RFC 9865). */
export class DirectoryLists {
  readonly #deps: DirectoryDeps

  constructor(deps: DirectoryDeps) {
    this.#deps = deps
  }

  /**
   * Returns the page that starts at an index (counted from 1). If a SCIM token requests the pages of a query one after
   * the other within a day, each page starts right after the last resource of the previous page, so a deletion in
   * between skips nothing.
   */
  async byIndex(listing: DirectoryListing, index: number, count: number): Promise<DirectoryPage> {
    const { store } = this.#deps
    const key = {
      tokenId: listing.tokenId,
      queryDigest: digest(`${listing.kind} ${listing.asked}`),
    }
    const after = index > 1 ? await directoryWalks.find(store.calls, key, index) : undefined
    const { ids, last, hasMore } = await this.#read(listing, { after, offset: index - 1, count })
    if (hasMore && last !== undefined) {
      const from = after === undefined ? undefined : { index, place: after }
      const next = { index: index + ids.length, place: last }
      await store.transactionOnCalls(
        async (tx) => await directoryWalks.note(tx, key, { next, from }),
      )
    }
    // A first page that contains everything needs no count.
    const isAll = index === 1 && count > 0 && !hasMore
    const before = after === undefined ? 0 : index - 1
    const total = isAll ? ids.length : before + (await this.#count(listing, after))
    return { ids, total, nextCursor: undefined }
  }

  /**
   * Returns the page after a cursor (`''` for the first); 'invalid' if the cursor is not one of ours or belongs to
   * another query, 'expired' if it is too old.
   */
  async byCursor(
    listing: DirectoryListing,
    cursor: string,
    count: number,
  ): Promise<DirectoryPage | 'invalid' | 'expired'> {
    const { clock, sealer } = this.#deps
    const start = cursor === '' ? undefined : this.#open(listing, cursor)
    if (start === 'invalid' || start === 'expired') return start
    const after = start?.place
    const seen = start?.seen ?? 0
    const { ids, last, hasMore } = await this.#read(listing, { after, offset: 0, count })
    const next: Opened | undefined =
      hasMore && last !== undefined
        ? { place: last, seen: seen + ids.length, at: clock.now() }
        : undefined
    return {
      ids,
      total: seen + (await this.#count(listing, after)),
      nextCursor: next && sealer.seal(JSON.stringify(next), contextOf(listing)),
    }
  }

  /** Lists ids for the dashboard in order of creation, after a position (0 for the first page). */
  async byPosition(
    organizationId: OrganizationId,
    kind: DirectoryKind,
    { after, count }: { readonly after: number; readonly count: number },
  ): Promise<string[]> {
    const found = await directoryLists.listPlaces(this.#deps.store, {
      table: tables[kind],
      organizationId,
      query: everybody,
      page: { after: { rank: 0, key: '', position: after }, offset: 0, limit: count },
    })
    return found.map((each) => each.id)
  }

  /** Counts all users, including inactive ones, and all groups. */
  async totals(organizationId: OrganizationId): Promise<{ users: number; groups: number }> {
    return {
      users: await this.#countAll(organizationId, 'user'),
      groups: await this.#countAll(organizationId, 'group'),
    }
  }

  /**
   * Counts the members who match the directory's state, those who differ from it, and those whom the directory never
   * sent.
   */
  async inStep(organizationId: OrganizationId): Promise<InStep> {
    return await directoryUsers.countInStep(this.#deps.store.slowReads, organizationId)
  }

  /** Deletes the remembered positions of listings that nobody has continued for a day. */
  async forget(): Promise<void> {
    await this.#deps.store.transactionOnCalls(directoryWalks.forgetOld)
  }

  async #read(
    listing: DirectoryListing,
    { after, offset, count }: { after: DirectoryPlace | undefined; offset: number; count: number },
  ): Promise<{ ids: string[]; last: DirectoryPlace | undefined; hasMore: boolean }> {
    const { organizationId, query, kind } = listing
    const found = await directoryLists.listPlaces(await this.#readerFor(listing), {
      table: tables[kind],
      organizationId,
      query,
      page: { after, offset, limit: count + 1 },
    })
    const page = found.slice(0, count)
    const ids = page.map((each) => each.id)
    return { ids, last: page.at(-1)?.place, hasMore: found.length > count }
  }

  /** Counts a listing's resources after a position, or all of them if `after` is undefined. */
  async #count(listing: DirectoryListing, after: DirectoryPlace | undefined): Promise<number> {
    const { organizationId, query, kind } = listing
    const table = tables[kind]
    return await directoryLists.countPlaces(await this.#readerFor(listing), {
      table,
      organizationId,
      query,
      after,
    })
  }

  async #countAll(organizationId: OrganizationId, kind: DirectoryKind): Promise<number> {
    const all = { table: tables[kind], organizationId, query: everybody, after: undefined }
    return await directoryLists.countPlaces(this.#deps.store, all)
  }

  // Chooses the connections to read with: a query that scans every row of a large directory must not delay other
  // requests.
  async #readerFor({ organizationId, query }: DirectoryListing): Promise<Db> {
    const { store } = this.#deps
    if (!directoryLists.readsAll(query)) return store
    return (await this.#countAll(organizationId, 'user')) > fewUsers ? store.slowReads : store
  }

  #open(listing: DirectoryListing, cursor: string): Opened | 'invalid' | 'expired' {
    const { clock, sealer, cursorTimeoutMs } = this.#deps
    try {
      const opened = JSON.parse(sealer.open(cursor, contextOf(listing))) as Opened
      return clock.now() - opened.at > cursorTimeoutMs ? 'expired' : opened
    } catch {
      return 'invalid'
    }
  }
}

/** Returns the context that binds a cursor to the organization and the query it was created for. */
function contextOf({ organizationId, kind, asked }: DirectoryListing): string[] {
  return ['directory-cursor', organizationId, kind, digest(asked)]
}
