import type { Answer, Input } from './call.ts'
import type { DeliveryState } from './webhook-shapes.ts'
import type { ConnectionKind } from './sso.ts'
import type { Key, Role, Rule, Target } from './shapes.ts'

/** Returns every name of an API type in the order given; a missing or unknown name does not compile. */
export function everyOf<Name extends string>(names: Readonly<Record<Name, true>>): readonly Name[] {
  return Object.keys(names) as Name[]
}

export const roles = everyOf<Role>({ owner: true, admin: true, developer: true, viewer: true })

export type Method = NonNullable<NonNullable<Key['grants']>[number]['methods']>[number]
export const methods = everyOf<Method>({
  GET: true,
  HEAD: true,
  POST: true,
  PUT: true,
  PATCH: true,
  DELETE: true,
  OPTIONS: true,
})

export const schemes = everyOf<Key['scheme']>({ 'x-api-key': true, bearer: true })

export const rateScopes = everyOf<Target['rate_scope']>({ all: true, node: true })

export type QuotaPeriod = NonNullable<Target['quota']>['period']
export const quotaPeriods = everyOf<QuotaPeriod>({ day: true, month: true })

export const effects = everyOf<Rule['effect']>({ allow: true, deny: true })

export const connectionKinds = everyOf<ConnectionKind>({
  okta: true,
  entra: true,
  google: true,
  other: true,
})

type KeyFilter = NonNullable<
  NonNullable<Input<'GET /organizations/:organization/keys'>['query']>['state']
>
export const keyStates = everyOf<KeyFilter>({
  active: true,
  expiring: true,
  unused: true,
  revoked: true,
  expired: true,
})

export const deliveryStates = everyOf<DeliveryState>({
  delivered: true,
  pending: true,
  held: true,
  dead: true,
  skipped: true,
})

type DeliveryFilter = NonNullable<
  NonNullable<Input<'GET /organizations/:organization/webhooks/deliveries'>['query']>['state']
>
/** The filters of the list of deliveries: each state, plus `retrying` and `missed`, which people often look for. */
export const deliveryChoices = everyOf<DeliveryFilter>({
  delivered: true,
  pending: true,
  retrying: true,
  held: true,
  dead: true,
  skipped: true,
  missed: true,
})

type FirstStep = keyof Answer<'GET /organizations/:organization/first-steps'>
export const firstSteps = everyOf<FirstStep>({
  target: true,
  key: true,
  call: true,
  endpoint: true,
  invited: true,
})

/** Converts the string value of a select to one of the names; returns the first name if the string is none of them. */
export function chosenOf<Name extends string>(names: readonly Name[], text: string): Name {
  return names.find((name) => name === text) ?? (names[0] as Name)
}
