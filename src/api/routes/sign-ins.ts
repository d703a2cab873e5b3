import { Type } from '../../http/index.ts'
import { route } from '../core/route.ts'
import { rangeOf } from '../core/moments.ts'
import { Time, time } from '../core/schemas.ts'
import { dayMs, minuteMs } from '../../units.ts'

const maxSteps = 200

/** How people sign in over time. */
export const signInRoutes = {
  'GET /organizations/:organization/sign-ins': route({
    summary: 'Sign-ins per time step: through the company, in other ways, or refused',
    permission: 'members.manage',
    query: Type.Object({
      from: Time,
      to: Time,
      step_ms: Type.Integer({ minimum: minuteMs, maximum: 31 * dayMs }),
    }),
    answer: Type.Object(
      {
        step_ms: Type.Integer(),
        points: Type.Array(
          Type.Object(
            {
              at: Time,
              /** Sign-ins through the company's own identity provider. */
              company: Type.Integer(),
              other: Type.Integer(),
              /** Failed or refused sign-ins through the company's provider; a limited number of them is recorded. */
              refused: Type.Integer(),
            },
            { title: 'SignInsPoint' },
          ),
        ),
      },
      { title: 'SignIns' },
    ),
    handle: async ({ organization, query }, { audit }) => {
      const steps = await audit.signIns(organization.id, rangeOf(query, maxSteps))
      return {
        step_ms: query.step_ms,
        points: steps.map((step) => ({ ...step, at: time(step.at) })),
      }
    },
  }),
}
