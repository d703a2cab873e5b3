import { roles } from '../../access/index.ts'
import { Type, type TSchema } from '../../http/index.ts'

/** A time as ISO 8601; a response gives it in UTC, a request may use any offset. */
export const Time = Type.String({ format: 'date-time' })

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

export function oneOf<const Words extends readonly string[]>(words: Words) {
  return Type.Unsafe<Words[number]>({ type: 'string', enum: [...words] })
}

/** Returns the schema of a request body that refuses unknown members. */
export function input<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false })
}

export const Role = oneOf(roles)

/** Formats milliseconds since 1970 as an ISO 8601 time in UTC. */
export function time(ms: number): string {
  return new Date(ms).toISOString()
}

export function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : time(ms)
}
