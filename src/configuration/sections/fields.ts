import { Type, type TSchema } from '../../http/index.ts'
import { maxRateSeconds } from '../../rate.ts'

/** The schema of a mapping with known fields, all optional except those in `required`. */
export function object(
  properties: Readonly<Record<string, TSchema>>,
  required: readonly string[] = [],
): TSchema {
  return Type.Object(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [
        name,
        required.includes(name) ? schema : Type.Optional(schema),
      ]),
    ),
    { additionalProperties: false },
  )
}

export function text(maxLength: number, description: string): TSchema {
  return Type.String({ minLength: 1, maxLength, description })
}

/** The schema of a thing's display name. */
export function nameField(description: string): TSchema {
  return text(100, description)
}

/** The schema of a text in a given format; `must` ends the sentence of the refusal. */
export function formed(pattern: string, must: string, description: string): TSchema {
  return Type.String({ pattern, description, patternErrorMessage: must })
}

export function texts(maxItems: number, description: string): TSchema {
  return Type.Array(Type.String({ minLength: 1, maxLength: 1000 }), { maxItems, description })
}

/** The schema of an integer between two bounds, both included. */
export function whole(minimum: number, maximum: number, description: string): TSchema {
  return Type.Integer({ minimum, maximum, description })
}

export function flag(description: string): TSchema {
  return Type.Boolean({ description })
}

export function words(values: readonly string[], description: string): TSchema {
  return Type.Unsafe<string>({ type: 'string', enum: [...values], description })
}

export function nullable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()])
}

export function mapOf(value: TSchema, maxProperties: number, description: string): TSchema {
  return Type.Unsafe({ type: 'object', additionalProperties: value, maxProperties, description })
}

/** The schema of a reference to a secret, never the secret itself. */
export const reference: TSchema = formed(
  '^(env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:.{1,1000})$',
  'must be env:NAME or file:PATH, never the secret itself',
  'Where the secret is: env:NAME or file:PATH.',
)

/** The schema of a number of calls per period. */
export function rateUpTo(calls: number): TSchema {
  return object(
    {
      calls: whole(1, calls, 'How many calls.'),
      per_seconds: whole(1, maxRateSeconds, 'In how many seconds.'),
      burst: whole(1, calls, 'How many at once.'),
    },
    ['calls', 'per_seconds'],
  )
}

/** The schema of a number of calls per calendar day or month, in UTC. */
export function quotaUpTo(calls: number): TSchema {
  return object(
    {
      calls: whole(1, calls, 'How many calls.'),
      period: words(['day', 'month'], 'In which calendar period (UTC).'),
    },
    ['calls', 'period'],
  )
}

/** The schema of the rate of a target or an organization. */
export const rate = rateUpTo(1_000_000)
/** The schema of the quota of a target. */
export const quota = quotaUpTo(Number.MAX_SAFE_INTEGER)
