import { roles } from '../../access/index.ts'
import { Type, type Static, type TSchema } from '../../http/index.ts'
import type { Confirmation } from '../../store/index.ts'

const maxInPage = 200

/** A time as ISO 8601 in UTC. */
export const Time = Type.String({ format: 'date-time' })

/** A value that may be missing, which JSON shows as null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** One of several words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] })
}

/** A request body that refuses unknown members, so that nobody can set a field not meant for them. */
export function input<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

/** A page of a list; pass `next` as `after` in the next request. It is null on the last page. */
export function pageOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item), next: nullable(Type.String()) })
}

/** The query parameters of every list. */
export const pageQuery = {
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxInPage })),
}

export const Role = oneOf(roles)

/** When a change had reached every node. */
export const Confirmed = Type.Object(
  { nodes: Type.Integer(), silent_nodes: Type.Integer(), took_ms: Type.Number() },
  { title: 'Confirmation' },
)

/** Formats a confirmation for a response. */
export function toConfirmed(confirmation: Confirmation): Static<typeof Confirmed> {
  const { nodes, silentNodes, tookMs } = confirmation
  return { nodes, silent_nodes: silentNodes, took_ms: tookMs }
}

/** Formats milliseconds as a time. */
export function time(ms: number): string {
  return new Date(ms).toISOString()
}

/** Formats milliseconds as a time, or null. */
export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : time(ms)
}

/**
 * Builds a page from items read with `limitOf(query) + 1`: the extra one shows that there are more. `cursorOf` gives
 * the last item's cursor.
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

const usualInPage = 50

/** The number of items on a page. */
export function limitOf(query: { limit?: number }): number {
  return query.limit ?? usualInPage
}
