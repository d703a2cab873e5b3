import type { Quota } from '../../access/index.ts'
import { Type } from '../../http/index.ts'
import type { OrganizationId } from '../../ids.ts'
import { quotaStanding } from '../../targets/index.ts'
import { route } from '../core/route.ts'
import { nullable, oneOf, Time, time } from '../core/schemas.ts'
import type { Services } from '../core/services.ts'

const QuotaUse = Type.Object(
  {
    /** null if there is no quota. */
    quota: nullable(
      Type.Object({
        calls: Type.Integer(),
        period: oneOf(['day', 'month']),
        /** The calls in this period that nodes have reported; reports are up to about a second behind. */
        used: Type.Integer(),
        resets_at: Time,
      }),
    ),
  },
  { title: 'QuotaUse' },
)

/** How much of each quota is used. */
export const quotaRoutes = {
  'GET /organizations/:organization/keys/:key/quota': route({
    summary: "How much of a key's quota is used in the current period",
    permission: 'traffic.see',
    answer: QuotaUse,
    handle: async ({ organization, param }, services) => {
      const { id, quota } = await services.keys.get(organization.id, param('key'))
      return await useOf({ organizationId: organization.id, subjectId: id, quota }, services)
    },
  }),

  'GET /organizations/:organization/targets/:target/quota': route({
    summary: "How much of a target's quota is used in the current period",
    permission: 'traffic.see',
    answer: QuotaUse,
    handle: async ({ organization, param }, services) => {
      const { id, settings } = await services.targets.get(organization.id, param('target'))
      const subject = { organizationId: organization.id, subjectId: id, quota: settings.quota }
      return await useOf(subject, services)
    },
  }),
}

async function useOf(
  subject: {
    readonly organizationId: OrganizationId
    readonly subjectId: string
    readonly quota: Quota | undefined
  },
  services: Services,
) {
  const { quota } = subject
  if (quota === undefined) return { quota: null }
  const nowMs = services.clock.now()
  const { used, resetsAt } = await quotaStanding(services.store, { ...subject, quota }, nowMs)
  return { quota: { ...quota, used, resets_at: time(resetsAt) } }
}
