import { isId } from '../ids.ts'
import { Problem } from '../errors.ts'
import { Type } from '../http/index.ts'
import { calls, type CallRecord } from '../store/index.ts'
import { checks, type Check } from '../targets/index.ts'
import { ApiCall, gatewayPrefix, namesFor, toApiCall } from './call-shape.ts'
import { route, type RouteOrganization } from './route.ts'
import type { Rooms } from './rooms.ts'
import { limitOf, pageOf, pageQuery, Time, time, toPage } from './shapes.ts'

const text = (most: number) => Type.Optional(Type.String({ minLength: 1, maxLength: most }))

/** Calls that passed through, and their sums. */
export const callRoutes = {
  'GET /organizations/:organization/calls': route({
    summary: 'Calls, newest first; `newer` asks for what came after a call',
    permission: 'traffic.see',
    query: Type.Object({
      ...pageQuery,
      newer: text(60),
      /** An id of a call, or what its path begins with. */
      q: text(500),
      target: text(63),
      key: text(60),
      /** A check, such as `rules`. */
      stopped_at: text(20),
      status: Type.Optional(Type.String({ pattern: '^[1-5](?:xx|\\d\\d)$' })),
      method: text(20),
      path: text(500),
      address: text(60),
      from: Type.Optional(Time),
      to: Type.Optional(Time),
    }),
    answer: pageOf(ApiCall),
    handle: async ({ organization, query }, rooms) => {
      const page = {
        before: query.after,
        after: query.newer,
        limit: limitOf(query) + 1,
        keyId: query.key,
        targetId: await targetIdOf(organization, query.target, rooms),
        stoppedAt: query.stopped_at,
        statuses: statusesOf(query.status),
        method: query.method?.toUpperCase(),
        path: recordedPath(query.target, query.path ?? query.q),
        address: query.address,
        from: query.from === undefined ? undefined : Date.parse(query.from),
        to: query.to === undefined ? undefined : Date.parse(query.to),
      }
      const found =
        query.q !== undefined && isId('req', query.q)
          ? await one(organization, query.q, rooms)
          : await calls.list(rooms.store.calls, organization.id, page)
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
      const [call] = await one(organization, param('call'), rooms)
      if (!call)
        throw new Problem('not_found', 'There is no such call, or it is not kept any more.')
      return toApiCall(call, await namesFor(organization, [call], rooms))
    },
  }),

  'GET /organizations/:organization/rollups': route({
    summary: 'Calls per step, and where refused ones stopped',
    permission: 'traffic.see',
    query: Type.Object({
      from: Time,
      to: Time,
      stepMs: Type.Integer({ minimum: 60_000, maximum: 31 * 24 * 3_600_000 }),
      target: text(63),
      key: text(60),
    }),
    answer: Type.Object(
      {
        stepMs: Type.Integer(),
        points: Type.Array(
          Type.Object({ at: Time, passed: Type.Integer(), refused: Type.Integer() }),
        ),
        refused: Type.Object(
          Object.fromEntries(checks.map((check) => [check, Type.Optional(Type.Integer())])) as {
            [C in Check]: ReturnType<typeof optionalInteger>
          },
        ),
        answered: Type.Integer(),
        p95Ms: Type.Optional(Type.Number()),
      },
      { title: 'Rollup' },
    ),
    handle: async ({ organization, query }, rooms) => {
      const { stepMs } = query
      const from = Math.floor(Date.parse(query.from) / stepMs) * stepMs
      const to = Date.parse(query.to)
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
        stepMs,
        points: rollup.points.map((point) => ({ ...point, at: time(point.at) })),
        refused: rollup.refused,
        answered: rollup.answered,
        ...(rollup.p95Ms === undefined ? {} : { p95Ms: rollup.p95Ms }),
      }
    },
  }),
}

const mostPoints = 2000

function optionalInteger() {
  return Type.Optional(Type.Integer())
}

async function one(
  organization: RouteOrganization,
  id: string,
  rooms: Rooms,
): Promise<CallRecord[]> {
  const call = await calls.find(rooms.store.calls, organization.id, id)
  return call ? [call] : []
}

/** A name nobody has finds nothing, as a filter should. */
async function targetIdOf(
  organization: RouteOrganization,
  slug: string | undefined,
  rooms: Rooms,
): Promise<string | undefined> {
  if (slug === undefined) return undefined
  const all = await rooms.targets.list(organization.id)
  return all.find((target) => target.slug === slug || target.id === slug)?.id ?? slug
}

/** How a path that people see begins in the record: below the chosen target, else beginning with a target's name. */
function recordedPath(target: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined || path.startsWith(gatewayPrefix)) return path
  const below = path.startsWith('/') ? path : `/${path}`
  return `${gatewayPrefix}${target === undefined ? '' : `/${target}`}${below}`
}

function statusesOf(status: string | undefined): readonly [number, number] | undefined {
  if (status === undefined) return undefined
  if (!status.endsWith('xx')) return [Number(status), Number(status) + 1]
  const least = Number(status.charAt(0)) * 100
  return [least, least + 100]
}
