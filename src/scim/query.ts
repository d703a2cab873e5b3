import type { DirectoryListing } from '../directory/index.ts'
import { resolveTarget, type ResourceType } from './schema/attributes.ts'
import { sortField, toCondition } from './filter/condition.ts'
import { limits } from './discovery.ts'
import { refuse } from './protocol/errors.ts'
import type { ScimRequest } from './exchange.ts'
import { parseFilter, type FilterOptions } from './filter/filter.ts'
import { isObject, memberOf, type Json } from './protocol/json.ts'
import { createProjection, type Projection } from './schema/projection.ts'
import { checkSchemas } from './schema/resource.ts'

const searchUrn = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'

/** A query from a URL or a `.search` request (RFC 7644 sections 3.4.2 and 3.4.3). */
export interface Query {
  readonly filter: string | undefined
  readonly sortBy: string | undefined
  readonly descending: boolean
  /** The 1-based position of the first resource to return. */
  readonly startIndex: number
  readonly count: number
  /** Undefined for pages by index; '' for the first page by cursor (RFC 9865). */
  readonly cursor: string | undefined
  readonly attributes: readonly string[]
  readonly excludedAttributes: readonly string[]
}

export interface AskedList {
  readonly type: ResourceType
  readonly query: Query
}

/** Parses a URL's query parameters, ignoring the case of their names; refuses a known parameter that is given twice. */
export function queryOfUrl(search: URLSearchParams): Query {
  const one = (name: string): string | undefined => {
    const found = [...search].filter(([each]) => each.toLowerCase() === name.toLowerCase())
    if (found.length > 1) throw refuse('invalidValue', `'${name}' is there twice.`)
    return found[0]?.[1]
  }
  return readQuery({
    filter: one('filter'),
    sortBy: one('sortBy'),
    sortOrder: one('sortOrder'),
    startIndex: wholeNumber('startIndex', one('startIndex')),
    count: wholeNumber('count', one('count')),
    cursor: one('cursor'),
    attributes: names(one('attributes')),
    excludedAttributes: names(one('excludedAttributes')),
  })
}

/**
 * Returns the names in the parameter `attributes`. Unlike `queryOfUrl`, this refuses nothing, because discovery
 * endpoints ignore unknown names and most parameters.
 */
export function askedAttributes(search: URLSearchParams): string[] {
  return [...search].flatMap(([name, text]) =>
    name.toLowerCase() === 'attributes' ? names(text) : [],
  )
}

/** Parses the query of a `.search` body. */
export function queryOfBody(body: Json | undefined): Query {
  if (!isObject(body)) throw refuse('invalidSyntax', 'The body must be a JSON object.')
  checkSchemas(body, searchUrn)
  const text = (name: string): string | undefined => {
    const value = memberOf(body, name)
    if (value === undefined || value === null) return undefined
    if (typeof value !== 'string') throw refuse('invalidValue', `'${name}' takes a text.`)
    return value
  }
  const number = (name: string): number | undefined => {
    const value = memberOf(body, name)
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') return wholeNumber(name, value)
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      throw refuse('invalidValue', `'${name}' takes a whole number.`)
    }
    return value
  }
  const list = (name: string): readonly string[] => {
    const value = memberOf(body, name)
    if (value === undefined || value === null) return []
    if (typeof value === 'string') return names(value)
    if (!Array.isArray(value)) throw refuse('invalidValue', `'${name}' takes a list of texts.`)
    return (value as readonly Json[]).filter((each) => typeof each === 'string')
  }
  return readQuery({
    filter: text('filter'),
    sortBy: text('sortBy'),
    sortOrder: text('sortOrder'),
    startIndex: number('startIndex'),
    count: number('count'),
    cursor: text('cursor'),
    attributes: list('attributes'),
    excludedAttributes: list('excludedAttributes'),
  })
}

function readQuery(asked: {
  filter: string | undefined
  sortBy: string | undefined
  sortOrder: string | undefined
  startIndex: number | undefined
  count: number | undefined
  cursor: string | undefined
  attributes: readonly string[]
  excludedAttributes: readonly string[]
}): Query {
  const order = asked.sortOrder?.toLowerCase()
  if (order !== undefined && order !== 'ascending' && order !== 'descending') {
    throw refuse('invalidValue', "'sortOrder' is ascending or descending.")
  }
  if (asked.cursor !== undefined && asked.startIndex !== undefined) {
    throw refuse('invalidValue', "'cursor' and 'startIndex' cannot be used together.")
  }
  return {
    filter: asked.filter === '' ? undefined : asked.filter,
    sortBy: asked.sortBy === '' ? undefined : asked.sortBy,
    descending: order === 'descending',
    // RFC 7644 section 3.4.2.4: a startIndex below 1 counts as 1, and a count below 0 as 0.
    startIndex: Math.max(1, asked.startIndex ?? 1),
    count: Math.min(limits.pageSize, Math.max(0, asked.count ?? limits.defaultPageSize)),
    cursor: asked.cursor,
    attributes: asked.attributes,
    excludedAttributes: asked.excludedAttributes,
  }
}

export function projectionOf(
  type: ResourceType,
  query: Pick<Query, 'attributes' | 'excludedAttributes'>,
): Projection {
  return createProjection(type, query.attributes, query.excludedAttributes)
}

/** Converts the query into the form that the directory's lists take. */
export function listingOf(
  { principal, base }: Pick<ScimRequest, 'principal' | 'base'>,
  { type, query }: AskedList,
  bounds: FilterOptions,
): DirectoryListing {
  const { filter, sortBy, descending, count } = query
  const tree = filter && parseFilter(filter, type, bounds)
  // A `sortBy` attribute that is unknown, or that `sortField` can't sort by, is ignored.
  const target = sortBy === undefined ? undefined : resolveTarget(type, sortBy)
  const sort = target && sortField(type, target)
  return {
    organizationId: principal.organizationId,
    tokenId: principal.tokenId,
    kind: type.name === 'User' ? 'user' : 'group',
    query: {
      condition: tree ? toCondition(type, tree, base) : undefined,
      sort: sort && { ...sort, descending },
    },
    asked: JSON.stringify([filter ?? '', sortBy ?? '', descending, count]),
  }
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^[-+]?\d{1,15}$/.test(text)) {
    throw refuse('invalidValue', `'${name}' takes a whole number.`)
  }
  return Number(text)
}

function names(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}
