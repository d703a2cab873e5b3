import { Type } from '../../http/index.ts'
import { rateShares } from '../../store/index.ts'
import { route } from '../core/route.ts'

const whole = 1_000_000

const RateShare = Type.Object(
  {
    /** The id of a key, a target, the organization or a SCIM token. */
    subject_id: Type.String(),
    node_id: Type.String(),
    /** The fraction of the rate that the node may use now, from 0 to 1. */
    share: Type.Number(),
    /** The calls per second that reached the node, including refused calls, as it last reported. */
    demand: Type.Number(),
    /** Whether the node needs a larger share than it has. */
    is_short: Type.Boolean(),
  },
  { title: 'RateShare' },
)

/** How nodes currently share rates. */
export const limitRoutes = {
  'GET /organizations/:organization/rate-shares': route({
    summary:
      'How nodes currently share the rates of keys, targets, the organization and SCIM tokens; empty for a single node',
    permission: 'traffic.see',
    query: Type.Object(
      { subject: Type.Optional(Type.String({ maxLength: 100 })) },
      { additionalProperties: false },
    ),
    answer: Type.Object({ items: Type.Array(RateShare) }),
    handle: async ({ organization, query }, services) => {
      const of = { organizationId: organization.id, subjectId: query.subject }
      const shares = await rateShares.listShares(services.store.calls, of)
      return {
        items: shares.map(({ subjectId, nodeId, share, demand, short }) => ({
          subject_id: subjectId,
          node_id: nodeId,
          share: share / whole,
          demand,
          is_short: short,
        })),
      }
    },
  }),
}
