import { Type } from '../../../http/index.ts'
import { route } from '../../core/route.ts'
import { rangeOf } from '../../core/moments.ts'
import { nullable, Time, time } from '../../core/schemas.ts'
import { dayMs, minuteMs } from '../../../units.ts'

const maxSteps = 200

const Figures = Type.Object(
  {
    step_ms: Type.Integer(),
    points: Type.Array(
      Type.Object(
        {
          at: Time,
          /** Deliveries that were created in this step, by their present state. */
          delivered: Type.Integer(),
          dead: Type.Integer(),
          skipped: Type.Integer(),
          waiting: Type.Integer(),
          /** How many of the deliveries since `from` were pending or held at the end of the step. */
          backlog: Type.Integer(),
          /**
           * The median and the 95th percentile of the time from a delivery's creation to its success, including
           * retries; null if nothing was delivered.
           */
          p50_ms: nullable(Type.Integer()),
          p95_ms: nullable(Type.Integer()),
        },
        { title: 'EndpointFiguresPoint' },
      ),
    ),
    /** Whether there were so many deliveries that only the newest were counted. */
    sampled: Type.Boolean(),
  },
  { title: 'EndpointFigures' },
)

/** An endpoint's deliveries over time. */
export const endpointFigureRoutes = {
  'GET /organizations/:organization/webhooks/endpoints/:endpoint/figures': route({
    summary: "An endpoint's deliveries per time step: outcomes, durations and backlog",
    permission: 'traffic.see',
    query: Type.Object({
      from: Time,
      to: Time,
      step_ms: Type.Integer({ minimum: minuteMs, maximum: 31 * dayMs }),
    }),
    answer: Figures,
    handle: async ({ organization, param, query }, { webhooks }) => {
      const range = rangeOf(query, maxSteps)
      const { id } = await webhooks.endpoints.get(organization.id, param('endpoint'))
      const fields = { endpointId: id, ...range }
      const { steps, isSampled } = await webhooks.figures(organization.id, fields)
      const points = steps.map(({ at, p50Ms, p95Ms, ...counts }) => ({
        at: time(at),
        ...counts,
        p50_ms: p50Ms ?? null,
        p95_ms: p95Ms ?? null,
      }))
      return { step_ms: query.step_ms, points, sampled: isSampled }
    },
  }),
}
