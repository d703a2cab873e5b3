import { Type, type TSchema } from '../../http/index.ts'
import { Problem } from '../../errors.ts'
import { isId, type Id, type IdPrefix } from '../../ids.ts'
import { nullable } from './schemas.ts'

const maxInPage = 200
const usualInPage = 50

/**
 * Returns the schema of a page of a list. A client passes `next` as `after` in its next request; `next` is null on the
 * last page.
 */
export function pageOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item), next: nullable(Type.String()) })
}

export const pageQuery = {
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxInPage })),
}

/**
 * Builds a page from items read with `limitOf(query) + 1`: the extra item shows that there are more. `cursorOf` returns
 * an item's cursor.
 */
export function toPage<T, Item>(
  query: { limit?: number },
  found: readonly T[],
  how: { readonly item: (one: T) => Item; readonly cursorOf: (one: T) => string },
): { items: Item[]; next: string | null } {
  const limit = limitOf(query)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(how.item),
    next: found.length > limit && last !== undefined ? how.cursorOf(last) : null,
  }
}

export function toPageById<T extends { readonly id: string }, Item>(
  query: { limit?: number },
  found: readonly T[],
  item: (one: T) => Item,
): { items: Item[]; next: string | null } {
  return toPage(query, found, { item, cursorOf: ({ id }) => id })
}

/** Returns the cursor of a list that is sorted by ids with this prefix; throws `invalid_input` for any other text. */
export function idCursor<P extends IdPrefix>(
  prefix: P,
  cursor: string | undefined,
): Id<P> | undefined {
  if (cursor === undefined || isId(prefix, cursor)) return cursor
  throw noCursor()
}

/** Returns the cursor of a list that is sorted by whole numbers; throws `invalid_input` for any other text. */
export function numberCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (!/^\d{1,15}$/.test(cursor)) throw noCursor()
  return Number(cursor)
}

export function noCursor(): Problem {
  return new Problem('invalid_input', 'This is no cursor of ours.')
}

export function limitOf(query: { limit?: number }): number {
  return query.limit ?? usualInPage
}
