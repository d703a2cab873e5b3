import type { Input } from '../../api/call.ts'
import type { Grant } from '../../api/shapes.ts'
import type { Method, QuotaPeriod } from '../../api/choices.ts'

const dayMs = 86_400_000
type Wish = Input<'PUT /organizations/:organization/keys/:key'>['body']

/** What somebody is typing about a key: texts, because half a number is none. */
export interface WishDraft {
  readonly name: string
  /** Days from now on; '' is no end. */
  readonly days: string
  readonly some: boolean
  readonly grants: Readonly<Record<string, readonly Method[]>>
  readonly cidrs: string
  readonly limit: string
  readonly quota: string
  readonly period: QuotaPeriod
}

export const startOfWish: WishDraft = {
  name: '',
  days: '90',
  some: false,
  grants: {},
  cidrs: '',
  limit: '',
  quota: '',
  period: 'day',
}

/** The wish as the API reads it; the limit counts per `perSeconds` seconds. */
export function wishOf(draft: WishDraft, perSeconds = 1): Wish {
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
