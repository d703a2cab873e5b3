import { isId } from '../../../ids.ts'
import { Type, type Static } from '../../../http/index.ts'
import { recordedPrefix, type CallFilter } from '../../../store/index.ts'
import { checks } from '../../../targets/index.ts'
import type { RouteOrganization } from '../../core/route.ts'
import { optionalMomentOf } from '../../core/moments.ts'
import type { Services } from '../../core/services.ts'
import { oneOf, Time } from '../../core/schemas.ts'

export const text = (most: number) => Type.Optional(Type.String({ minLength: 1, maxLength: most }))

export const callFilterProperties = {
  /**
   * A call's id, an address or a status. Any other text is searched for in paths; without a slash, it may also be a
   * key's id, part of a key's name, or the public part of a key's hint.
   */
  q: text(500),
  target: text(63),
  key: text(60),
  stopped_at: Type.Optional(oneOf(checks)),
  /**
   * `refused`: one of our checks refused the call; `upstream_error`: the call failed while it was forwarded, or the
   * upstream answered with 500 or above; `answered`: any other call.
   */
  outcome: Type.Optional(oneOf(['answered', 'upstream_error', 'refused'])),
  status: Type.Optional(Type.String({ pattern: '^[1-5](?:xx|\\d\\d)$' })),
  method: text(20),
  path: text(500),
  address: text(60),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
}
const CallFilterSchema = Type.Object(callFilterProperties)

export async function toCallFilter(
  organization: RouteOrganization,
  query: Static<typeof CallFilterSchema>,
  services: Services,
): Promise<CallFilter> {
  const { q } = query
  const meant = meaningOf(q)
  const target = await targetOf(organization, query.target, services)
  const status = query.status ?? (meant === 'status' ? q : undefined)
  return {
    id: meant === 'id' ? q : undefined,
    keyId: query.key,
    targetId: target?.id,
    stoppedAt: query.stopped_at,
    outcome: query.outcome,
    statuses: statusesOf(status),
    method: query.method?.toUpperCase(),
    path: recordedPath(target?.slug, query.path),
    words:
      q === undefined || meant !== 'words' ? undefined : await wordsOf(organization, q, services),
    address: query.address ?? (meant === 'address' ? q : undefined),
    from: optionalMomentOf(query.from),
    to: optionalMomentOf(query.to),
  }
}

const addressShape = /^(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f.]*:[0-9a-f:.]*)$/i
const maxKeysMeant = 50

function meaningOf(q: string | undefined): 'id' | 'address' | 'status' | 'words' | undefined {
  if (q === undefined) return undefined
  if (isId('req', q)) return 'id'
  if (/^[1-5]\d\d$/.test(q)) return 'status'
  return addressShape.test(q) ? 'address' : 'words'
}

/**
 * Returns the text to search for in paths, and the ids of at most 50 keys that match it. A text with a slash can only
 * mean a path.
 */
async function wordsOf(organization: RouteOrganization, q: string, services: Services) {
  const text = q.startsWith(recordedPrefix) ? q.slice(recordedPrefix.length) : q
  if (text.includes('/')) return { text, keyIds: [] }
  const keys = await services.keys.list(organization.id, { search: text, limit: maxKeysMeant })
  return { text, keyIds: keys.map(({ id }) => id) }
}

/**
 * Finds a target by its slug or id. For an unknown target, returns the given text as both, so that the id of a deleted
 * target still finds its calls.
 */
async function targetOf(
  organization: RouteOrganization,
  given: string | undefined,
  services: Services,
): Promise<{ id: string; slug: string } | undefined> {
  if (given === undefined) return undefined
  const all = await services.targets.slugs(organization.id)
  const [id, slug] = [...all].find((target) => target.includes(given)) ?? [given, given]
  return { id, slug }
}

/**
 * Converts a path prefix to the form in which paths are recorded. If a target is chosen, the prefix is a path below it;
 * otherwise the prefix itself begins with a target's slug.
 */
function recordedPath(target: string | undefined, path: string | undefined): string | undefined {
  if (path === undefined || path.startsWith(recordedPrefix)) return path
  const below = path.startsWith('/') ? path : `/${path}`
  return `${recordedPrefix}${target === undefined ? '' : `/${target}`}${below}`
}

function statusesOf(status: string | undefined): readonly [number, number] | undefined {
  if (status === undefined) return undefined
  if (!status.endsWith('xx')) return [Number(status), Number(status) + 1]
  const least = Number(status.charAt(0)) * 100
  return [least, least + 100]
}
