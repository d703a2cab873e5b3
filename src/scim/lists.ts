import type { DirectoryPage } from '../directory/index.ts'
import { refuse } from './protocol/errors.ts'
import type { ScimAnswer, ScimDeps, ScimRequest } from './exchange.ts'
import type { FilterOptions } from './filter/filter.ts'
import { listingOf, projectionOf, type AskedList, type Query } from './query.ts'
import { groupTexts, listText, userTexts } from './rendering.ts'
import { groupType, userType } from './schema/schema-group.ts'

const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** Lists a page of users or groups, by index or by cursor. */
export async function listResources(
  deps: ScimDeps,
  request: ScimRequest,
  asked: AskedList,
): Promise<ScimAnswer> {
  const page = await readPage(deps, request, asked)
  const resources = await loadResources(deps, request, { ...asked, ids: page.ids })
  return answerList([resources], page, asked.query)
}

/**
 * Lists a page of users followed by groups, for queries at the root, by GET or `.search` (RFC 7644 section 3.4.2.1).
 */
export async function listEverything(
  deps: ScimDeps,
  request: ScimRequest,
  query: Query,
): Promise<ScimAnswer> {
  if (query.cursor !== undefined) {
    throw refuse('invalidCursor', 'Pages over all resources go by startIndex.')
  }
  const { lists } = deps.directories
  const parts: Listed[] = []
  let total = 0
  let left = query.count
  for (const type of [userType, groupType]) {
    const bounds = { ...boundsOf(deps), unknown: 'absent' } as const
    const listing = listingOf(request, { type, query }, bounds)
    const start = Math.max(1, query.startIndex - total)
    const page = await lists.byIndex(listing, start, left)
    parts.push({ type, query, ids: page.ids })
    total += page.total
    left -= page.ids.length
  }
  const resources: PageOfResources[] = []
  for (const part of parts) resources.push(await loadResources(deps, request, part))
  return answerList(resources, { total, nextCursor: undefined }, query)
}

/** Answers with a list of discovery documents, in one page and without asking the store. */
export function listPlain(documents: readonly Record<string, unknown>[]): ScimAnswer {
  return {
    status: 200,
    body: {
      schemas: [listUrn],
      totalResults: documents.length,
      itemsPerPage: documents.length,
      startIndex: 1,
      Resources: documents,
    },
  }
}

async function readPage(
  deps: ScimDeps,
  request: ScimRequest,
  asked: AskedList,
): Promise<DirectoryPage> {
  const { lists } = deps.directories
  const { query } = asked
  const listing = listingOf(request, asked, boundsOf(deps))
  if (query.cursor === undefined) {
    return await lists.byIndex(listing, query.startIndex, query.count)
  }
  if (query.count === 0) throw refuse('invalidCount', "With a cursor, 'count' is at least 1.")
  const page = await lists.byCursor(listing, query.cursor, query.count)
  if (page === 'invalid') {
    throw refuse('invalidCursor', 'The cursor is not one of this query. Begin again without it.')
  }
  if (page === 'expired') {
    throw refuse('expiredCursor', 'The cursor is too old. Begin again without it.')
  }
  return page
}

function boundsOf({ limits }: ScimDeps): FilterOptions {
  return { depth: limits.filterDepth, characters: limits.filterCharacters }
}

/** A page's resources of one type, found but not loaded yet. */
interface Listed extends AskedList {
  readonly ids: readonly string[]
}

/** Renders a page's resources of one type while the page is being sent. */
type PageOfResources = () => ReturnType<typeof userTexts>

async function loadResources(
  deps: ScimDeps,
  request: ScimRequest,
  { type, query, ids }: Listed,
): Promise<PageOfResources> {
  const showing = { request, projection: projectionOf(type, query) }
  if (type.name === 'User') return () => userTexts(deps, ids, showing)
  const found = await deps.directories.groups.getAll(request.principal.organizationId, ids)
  return () => groupTexts(deps, found, showing)
}

function answerList(
  resources: readonly PageOfResources[],
  page: Pick<DirectoryPage, 'total' | 'nextCursor'>,
  query: Query,
): ScimAnswer {
  const byCursor = query.cursor !== undefined
  const head = {
    schemas: [listUrn],
    totalResults: page.total,
    // RFC 9865 section 2: a response to a cursor has no startIndex, and the last page has no nextCursor.
    ...(byCursor ? {} : { startIndex: query.startIndex }),
    ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
  }
  return { status: 200, pieces: () => listText(head, textsOf(resources)) }
}

async function* textsOf(resources: readonly PageOfResources[]): ReturnType<typeof userTexts> {
  for (const texts of resources) yield* texts()
}
