import { Type } from '../../../http/index.ts'
import { route } from '../../core/route.ts'
import { hourMs } from '../../../units.ts'

/** How many calls each target had in each of the last 24 hours. */
export const targetTrafficRoutes = {
  'GET /organizations/:organization/rollups/targets': route({
    summary:
      'Calls per target in each of the last 24 hours, oldest first; targets without calls are left out',
    permission: 'traffic.see',
    answer: Type.Object({
      step_ms: Type.Integer(),
      items: Type.Array(
        Type.Object(
          {
            target_id: Type.String(),
            calls: Type.Array(Type.Integer()),
            /** The calls of each hour that were refused here or failed at the upstream. */
            failed: Type.Array(Type.Integer()),
          },
          { title: 'TargetTraffic' },
        ),
      ),
    }),
    handle: async ({ organization }, { traffic }) => {
      const found = await traffic.hoursOfTargets(organization.id)
      const items = [...found].map(([targetId, hours]) => ({ target_id: targetId, ...hours }))
      return { step_ms: hourMs, items }
    },
  }),
}
