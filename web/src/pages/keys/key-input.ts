import type { KeyBody } from '../../api/keys.ts'
import type { Grant, Key } from '../../api/shapes.ts'
import type { Method, QuotaPeriod } from '../../api/choices.ts'

const dayMs = 86_400_000
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

/** A key's fields as its form shows them, except for the expiry. */
export function draftOf(key: Key): KeyDraft {
  return {
    ...emptyDraft,
    name: key.name,
    some: key.grants !== undefined,
    grants: Object.fromEntries(
      (key.grants ?? []).map(({ target, methods = [] }) => [target, methods]),
    ),
    cidrs: (key.cidrs ?? []).join('\n'),
    limit: key.rate_limit === undefined ? '' : String(key.rate_limit.calls),
    quota: key.quota === undefined ? '' : String(key.quota.calls),
    period: key.quota?.period ?? 'day',
  }
}

/** Converts the draft to the API's form. The limit keeps the window and the burst that it had. */
export function inputOf(draft: KeyDraft, before?: KeyBody['rate_limit']): KeyBody {
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
      : { rate_limit: { per_seconds: 1, ...before, calls: Number(draft.limit) } }),
    ...(draft.quota === '' ? {} : { quota: { calls: Number(draft.quota), period: draft.period } }),
  }
}

function grantOf([target, methods]: readonly [string, readonly Method[]]): Grant {
  return methods.length === 0 ? { target } : { target, methods: [...methods] }
}
