import type { Organizations } from '../../organizations/index.ts'
import { snakeCased, type OrganizationRecord, type Plan } from '../../store/index.ts'
import type { Remote } from './connection.ts'
import { msOf } from './values.ts'
import { dayMs } from '../../units.ts'

interface OrganizationJson {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly created_at: string
  readonly version: number
  readonly rate_limit?: {
    readonly calls: number
    readonly per_seconds: number
    readonly burst?: number
  } | null
  readonly key_defaults?: {
    readonly scheme: string
    readonly expires_after_days: number | null
    readonly cidrs: readonly string[] | null
  }
}

const O = '/operator/organizations'

/**
 * Implements the operations on organizations by calling a server's API. Only an operator's token may list and create
 * organizations and set their plans.
 */
export function remoteOrganizations(remote: Remote) {
  return {
    get: async (slug) => toRecord(await remote.call(`GET /organizations/${part(slug)}`)),
    list: async ({ limit }) => (await remote.list<OrganizationJson>(O, limit)).map(toRecord),
    create: async ({ slug, name, plan }) =>
      toRecord(await remote.call(`POST ${O}`, { slug, name, plan })),
    setPlan: async (slug, plan) =>
      toRecord(await remote.call(`PUT ${O}/${part(slug)}/plan`, { plan })),
    async change(id, { name, keyDefaults: given, rateLimit }) {
      const defaults = given && {
        ...('scheme' in given ? { scheme: given.scheme } : {}),
        ...('expiresAfterMs' in given
          ? {
              expires_after_days:
                given.expiresAfterMs === undefined ? null : given.expiresAfterMs / dayMs,
            }
          : {}),
        ...('cidrs' in given ? { cidrs: given.cidrs ?? null } : {}),
      }
      const body = { name, key_defaults: defaults, rate_limit: snakeCased(rateLimit) }
      return toRecord(await remote.call(`PATCH /organizations/${id}`, body))
    },
  } satisfies Partial<Organizations>
}

/** Encodes user input as a path segment. */
export function part(word: string): string {
  return encodeURIComponent(word)
}

function toRecord(json: OrganizationJson): OrganizationRecord {
  const { key_defaults: defaults, rate_limit: rate } = json
  const days = defaults?.expires_after_days ?? undefined
  return {
    id: json.id as OrganizationRecord['id'],
    slug: json.slug,
    name: json.name,
    plan: json.plan as Plan,
    createdAt: msOf(json.created_at) ?? 0,
    version: json.version,
    settings: {
      keyDefaults: {
        scheme: defaults?.scheme,
        expiresAfterMs: days === undefined ? undefined : days * dayMs,
        cidrs: defaults?.cidrs ?? undefined,
      },
      ...(rate
        ? { rateLimit: { calls: rate.calls, perSeconds: rate.per_seconds, burst: rate.burst } }
        : {}),
    },
  }
}
