import { Problem } from '../../../errors.ts'
import { Type } from '../../../http/index.ts'
import { calls } from '../../../store/index.ts'
import { checks, type Check } from '../../../targets/index.ts'
import { callFilterProperties, targetIdOf, text, toCallFilter } from './filter.ts'
import { ApiCall, namesFor, toApiCall } from './call-schema.ts'
import { route } from '../../core/route.ts'
import { limitOf, pageOf, pageQuery, Time, time, toPage } from '../../core/schemas.ts'

/** Calls that passed through, and their sums. */
export const callRoutes = {
  'GET /organizations/:organization/calls': route({
    summary: 'Calls, newest first; `newer` asks for what came after a call',
    permission: 'traffic.see',
    query: Type.Object({ ...pageQuery, newer: text(60), ...callFilterProperties }),
    answer: pageOf(ApiCall),
    handle: async ({ organization, query }, rooms) => {
      const page = {
        ...(await toCallFilter(organization, query, rooms)),
        before: query.after,
        after: query.newer,
        limit: limitOf(query) + 1,
      }
      const found = await calls.list(rooms.store.slowCallReads, organization.id, page)
      const names = await namesFor(organization, found, rooms)
      return toPage(query, found, {
        item: (call) => toApiCall(call, names),
        cursorOf: ({ id }) => id,
      })
    },
  }),

  'GET /organizations/:organization/calls/:call': route({
    summary: 'One call',
    permission: 'traffic.see',
    answer: ApiCall,
    handle: async ({ organization, param }, rooms) => {
      const call = await calls.find(rooms.store.calls, organization.id, param('call'))
      if (!call)
        throw new Problem('not_found', 'There is no such call, or it is not kept any more.')
      return toApiCall(call, await namesFor(organization, [call], rooms))
    },
  }),

  'GET /organizations/:organization/rollups': route({
    summary: 'Calls per step, and where refused ones stopped',
    permission: 'traffic.see',
    query: Type.Object({
      /** Left out: an hour before the end. */
      from: Type.Optional(Time),
      /** Left out: now. */
      to: Type.Optional(Time),
      /** Left out: a minute. */
      step_ms: Type.Optional(Type.Integer({ minimum: 60_000, maximum: 31 * 24 * 3_600_000 })),
      target: text(63),
      key: text(60),
    }),
    answer: Type.Object(
      {
        step_ms: Type.Integer(),
        points: Type.Array(
          Type.Object({ at: Time, passed: Type.Integer(), refused: Type.Integer() }),
        ),
        refused: Type.Object(
          Object.fromEntries(checks.map((check) => [check, Type.Optional(Type.Integer())])) as {
            [C in Check]: ReturnType<typeof optionalInteger>
          },
        ),
        answered: Type.Integer(),
        p95_ms: Type.Optional(Type.Number()),
      },
      { title: 'Rollup' },
    ),
    handle: async ({ organization, query }, rooms) => {
      const { step_ms: stepMs = minuteMs } = query
      const to = query.to === undefined ? rooms.clock.now() : Date.parse(query.to)
      const asked = query.from === undefined ? to - 60 * minuteMs : Date.parse(query.from)
      const from = Math.floor(asked / stepMs) * stepMs
      if (!(to > from) || (to - from) / stepMs > mostPoints) {
        throw new Problem('invalid_input', `A rollup has 1 to ${mostPoints} steps.`)
      }
      const rollup = await rooms.traffic.rollup(organization.id, {
        from,
        to,
        stepMs,
        targetId: await targetIdOf(organization, query.target, rooms),
        keyId: query.key,
      })
      return {
        step_ms: stepMs,
        points: rollup.points.map((point) => ({ ...point, at: time(point.at) })),
        refused: rollup.refused,
        answered: rollup.answered,
        ...(rollup.p95Ms === undefined ? {} : { p95_ms: rollup.p95Ms }),
      }
    },
  }),
}

const minuteMs = 60_000
const mostPoints = 2000

function optionalInteger() {
  return Type.Optional(Type.Integer())
}
