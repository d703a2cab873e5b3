import { isId } from '../../../ids.ts'
import { Type, type Static } from '../../../http/index.ts'
import { gatewayPrefix } from '../../../targets/index.ts'
import type { RouteOrganization } from '../../core/route.ts'
import type { Rooms } from '../../core/services.ts'
import { Time } from '../../core/schemas.ts'

/** A text of a query that may be left out. */
export const text = (most: number) => Type.Optional(Type.String({ minLength: 1, maxLength: most }))

/** What calls can be narrowed by. */
export const callFilterProperties = {
  /** An id of a call, an address, or what the path begins with. */
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
}
const CallFilter = Type.Object(callFilterProperties)

/** A filter as the store takes it; `q` is an id, an address, or else the beginning of a path. */
export async function toCallFilter(
  organization: RouteOrganization,
  query: Static<typeof CallFilter>,
  rooms: Rooms,
) {
  const { q } = query
  const meant = meaningOf(q)
  return {
    id: meant === 'id' ? q : undefined,
    keyId: query.key,
    targetId: await targetIdOf(organization, query.target, rooms),
    stoppedAt: query.stopped_at,
    statuses: statusesOf(query.status),
    method: query.method?.toUpperCase(),
    path: recordedPath(query.target, query.path ?? (meant === 'path' ? q : undefined)),
    address: query.address ?? (meant === 'address' ? q : undefined),
    from: query.from === undefined ? undefined : Date.parse(query.from),
    to: query.to === undefined ? undefined : Date.parse(query.to),
  }
}

const addressShape = /^(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f.]*:[0-9a-f:.]*)$/i

function meaningOf(q: string | undefined): 'id' | 'address' | 'path' | undefined {
  if (q === undefined) return undefined
  if (isId('req', q)) return 'id'
  return addressShape.test(q) ? 'address' : 'path'
}

/** A name nobody has finds nothing, as a filter should. */
export async function targetIdOf(
  organization: RouteOrganization,
  slug: string | undefined,
  rooms: Rooms,
): Promise<string | undefined> {
  if (slug === undefined) return undefined
  const all = await rooms.targets.slugs(organization.id)
  if (all.has(slug)) return slug
  return [...all].find(([, known]) => known === slug)?.[0] ?? slug
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
