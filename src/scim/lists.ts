import type { DirectoryPage } from '../directory/index.ts'
import type { ResourceType } from './schema/attributes.ts'
import { groupDocument, userDocument } from './documents.ts'
import { refuse } from './protocol/errors.ts'
import type { ScimAnswer, ScimNeeds, ScimRequest } from './exchange.ts'
import { listingOf, projectionOf, type Query } from './query.ts'
import { groupType, userType } from './schema/schema-group.ts'

const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** A page of users or groups, by index or by cursor. */
export async function listResources(
  needs: ScimNeeds,
  request: ScimRequest,
  type: ResourceType,
  query: Query,
): Promise<ScimAnswer> {
  const page = await readPage(needs, request, type, query)
  const documents = await loadDocuments(needs, request, type, page.ids, query)
  return answerList(documents, page, query)
}

/** A page over users and then groups: `.search` and queries at the root (RFC 7644 section 3.4.2.1). */
export async function listEverything(
  needs: ScimNeeds,
  request: ScimRequest,
  query: Query,
): Promise<ScimAnswer> {
  if (query.cursor !== undefined) {
    throw refuse('invalidCursor', 'Pages over all resources go by startIndex.')
  }
  const { lists } = needs.directories
  const ids: { type: ResourceType; ids: readonly string[] }[] = []
  let total = 0
  let room = query.count
  for (const type of [userType, groupType]) {
    const listing = listingOf(type, query, request, needs.limits, 'absent')
    const start = Math.max(1, query.startIndex - total)
    const page = await lists.byIndex(listing, start, room)
    ids.push({ type, ids: page.ids })
    total += page.total
    room -= page.ids.length
  }
  const documents: Record<string, unknown>[] = []
  for (const part of ids) {
    documents.push(...(await loadDocuments(needs, request, part.type, part.ids, query)))
  }
  return answerList(documents, { total, nextCursor: undefined }, query)
}

/** Documents that exist without a store: discovery. */
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
  needs: ScimNeeds,
  request: ScimRequest,
  type: ResourceType,
  query: Query,
): Promise<DirectoryPage> {
  const { lists } = needs.directories
  const listing = listingOf(type, query, request, needs.limits)
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

async function loadDocuments(
  needs: ScimNeeds,
  request: ScimRequest,
  type: ResourceType,
  ids: readonly string[],
  query: Query,
): Promise<Record<string, unknown>[]> {
  const { organizationId } = request.principal
  const projection = projectionOf(type, query)
  const { users, groups } = needs.directories
  if (type.name === 'User') {
    const found = await users.getAll(organizationId, ids, projection.shows('groups'))
    return found.map((user) => projection.apply(userDocument(user, request.base)))
  }
  const found = await groups.getAll(organizationId, ids)
  const members = projection.shows('members')
    ? await groups.listMembers(organizationId, ids)
    : undefined
  return found.map((group) =>
    projection.apply(groupDocument(group, members?.get(group.id), request.base)),
  )
}

function answerList(
  documents: readonly Record<string, unknown>[],
  page: Pick<DirectoryPage, 'total' | 'nextCursor'>,
  query: Query,
): ScimAnswer {
  const byCursor = query.cursor !== undefined
  return {
    status: 200,
    body: {
      schemas: [listUrn],
      totalResults: page.total,
      itemsPerPage: documents.length,
      // RFC 9865 section 2: an answer by cursor has no startIndex; the last one has no nextCursor.
      ...(byCursor ? {} : { startIndex: query.startIndex }),
      ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
      Resources: documents,
    },
  }
}
