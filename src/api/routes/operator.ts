import { Type } from '../../http/index.ts'
import { isSlug } from '../../organizations/index.ts'
import { route } from '../core/route.ts'
import { limitOf, noCursor, pageOf, pageQuery, toPage } from '../core/paging.ts'
import { input, oneOf } from '../core/schemas.ts'
import { Organization, toOrganization } from './organizations.ts'

const Plan = oneOf(['standard', 'enterprise'])

/** The operator's routes: organizations and plans. */
export const operatorRoutes = {
  'GET /operator/organizations': route({
    summary: 'Every organization, ordered by slug',
    permission: 'operator',
    query: Type.Object(pageQuery),
    answer: pageOf(Organization),
    handle: async ({ query }, services) => {
      if (query.after !== undefined && !isSlug(query.after)) throw noCursor()
      const page = { after: query.after, limit: limitOf(query) + 1 }
      return toPage(query, await services.organizations.list(page), {
        item: toOrganization,
        cursorOf: ({ slug }) => slug,
      })
    },
  }),

  'POST /operator/organizations': route({
    summary: 'Create an organization without members',
    permission: 'operator',
    status: 201,
    body: input({
      slug: Type.String({ minLength: 1, maxLength: 40 }),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      plan: Type.Optional(Plan),
    }),
    answer: Organization,
    handle: async ({ body, actor }, services) =>
      toOrganization(await services.organizations.create(body, actor)),
  }),

  'PUT /operator/organizations/:organization/plan': route({
    summary: "Set an organization's plan",
    permission: 'operator',
    body: input({ plan: Plan }),
    answer: Organization,
    handle: async ({ param, body, actor }, services) =>
      toOrganization(await services.organizations.setPlan(param('organization'), body.plan, actor)),
  }),
}
