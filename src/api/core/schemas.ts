import { roles } from '../../access/index.ts'
import { Type, type Static, type TSchema } from '../../http/index.ts'
import type { Confirmation } from '../../store/index.ts'

const maxInPage = 200

/** A moment, as ISO 8601 in UTC. */
export const Time = Type.String({ format: 'date-time' })

/** A value that may be missing; JSON says null. */
export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** One of some words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] })
}

/** A body: what it does not name is refused, so nobody sets what is not theirs to set. */
export function input<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

/** A page of a list; `next` goes into the next request's `after`, null at the end. */
export function pageOf<S extends TSchema>(item: S) {
  return Type.Object({ items: Type.Array(item), next: nullable(Type.String()) })
}

/** What every list takes. */
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

/** A confirmation as it is answered. */
export function toConfirmed(confirmation: Confirmation): Static<typeof Confirmed> {
  const { nodes, silentNodes, tookMs } = confirmation
  return { nodes, silent_nodes: silentNodes, took_ms: tookMs }
}

/** Milliseconds as a time. */
export function time(ms: number): string {
  return new Date(ms).toISOString()
}

/** Milliseconds as a time, or null. */
export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : time(ms)
}

/**
 * A page out of what was read with `limitOf(query) + 1`: the one too many tells that there is more. The cursor is
 * what `cursorOf` says of the last item.
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

/** How many items a page holds. */
export function limitOf(query: { limit?: number }): number {
  return query.limit ?? usualInPage
}
