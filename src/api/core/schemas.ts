import { roles } from '../../access/index.ts'
import { Type, type Static, type TSchema } from '../../http/index.ts'
import type { Confirmation } from '../../store/index.ts'

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
