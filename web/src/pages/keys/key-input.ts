import type { Input } from '../../api/call.ts'
import type { Grant, Key } from '../../api/shapes.ts'
import type { Method, QuotaPeriod } from '../../api/choices.ts'

const dayMs = 86_400_000
/** A key's fields as sent by an edit, all of them. */
export type KeyBody = Input<'PUT /organizations/:organization/keys/:key'>['body']

/** A key's fields while they are typed: strings, because an incomplete number is not a number. */
export interface KeyDraft {
  readonly name: string
  /** Days from now; '' means no expiry. */
  readonly days: string
  readonly some: boolean
  readonly grants: Readonly<Record<string, readonly Method[]>>
  readonly cidrs: string
  readonly limit: string
  readonly quota: string
  readonly period: QuotaPeriod
}

export const emptyDraft: KeyDraft = {
  name: '',
  days: '90',
  some: false,
  grants: {},
  cidrs: '',
  limit: '',
  quota: '',
  period: 'day',
}

/** Converts the draft to the API's form; the limit counts per `perSeconds` seconds. */
export function inputOf(draft: KeyDraft, perSeconds = 1): KeyBody {
  const cidrs = draft.cidrs.split(/[\s,]+/).filter(Boolean)
  return {
    name: draft.name.trim(),
    ...(draft.days === '' || !Number.isFinite(Number(draft.days))
      ? {}
      : { expires_at: new Date(Date.now() + Number(draft.days) * dayMs).toISOString() }),
    ...(draft.some ? { grants: Object.entries(draft.grants).map(grantOf) } : {}),
    ...(cidrs.length === 0 ? {} : { cidrs }),
    ...(draft.limit === ''
      ? {}
      : { rate_limit: { calls: Number(draft.limit), per_seconds: perSeconds } }),
    ...(draft.quota === '' ? {} : { quota: { calls: Number(draft.quota), period: draft.period } }),
  }
}

function grantOf([target, methods]: readonly [string, readonly Method[]]): Grant {
  return methods.length === 0 ? { target } : { target, methods: [...methods] }
}

/** A key's current fields, as an edit would send them. */
export function bodyOf(key: Key): KeyBody {
  const { name, grants, cidrs, rate_limit: rateLimit, quota, expires_at: expiresAt } = key
  return {
    name,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(grants === undefined ? {} : { grants: [...grants] as Grant[] }),
    ...(cidrs === undefined ? {} : { cidrs: [...cidrs] }),
    ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
    ...(quota === undefined ? {} : { quota }),
  }
}
