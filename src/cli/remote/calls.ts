import type { CallRecord } from '../../store/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { msOf, timeOf } from './values.ts'

const guarded = '/api/v1/intercept'

interface NamedCall {
  readonly call: CallRecord
  readonly target: string | undefined
  readonly key: string | undefined
}

interface CallQuery {
  readonly target?: string | undefined
  readonly key?: string | undefined
  readonly status?: string | undefined
  readonly stoppedAt?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly address?: string | undefined
  readonly from?: number | undefined
}

interface CallJson {
  readonly [name: string]: unknown
  readonly target?: string
  readonly key_name?: string
  readonly path: string
  readonly duration_ms: number
  readonly upstream_ms?: number
}

/** Opens the list of an organization's calls over the API, newest first. Throws `not_found` for an unknown target. */
export async function remoteCalls(remote: Remote, organizationId: string, query: CallQuery) {
  const at = `/organizations/${part(organizationId)}`
  if (query.target !== undefined) await remote.call(`GET ${at}/targets/${part(query.target)}`)
  const { stoppedAt, from: since, ...same } = query
  return async (page: { limit: number; from?: number }): Promise<NamedCall[]> => {
    const search = new URLSearchParams()
    const from = timeOf(page.from ?? since)
    for (const [name, value] of Object.entries({ ...same, stopped_at: stoppedAt, from })) {
      if (typeof value === 'string') search.set(name, value)
    }
    const found = await remote.list<CallJson>(`${at}/calls?${search.toString()}`, page.limit)
    return found.map(toNamedCall)
  }
}

function toNamedCall(json: CallJson): NamedCall {
  const { target, key_name: key, upstream_ms: upstreamMs } = json
  const call = {
    id: json['id'],
    at: msOf(json['at']),
    keyId: json['key_id'],
    method: json['method'],
    // The API returns the path below the target, while a record holds the full path.
    path: `${guarded}${target === undefined ? '' : `/${target}`}${json.path}`,
    status: json['status'],
    refusal: json['code'],
    stoppedAt: json['stopped_at'],
    ruleId: json['rule_id'],
    durationUs: Math.round(json.duration_ms * 1000),
    upstreamUs: upstreamMs === undefined ? undefined : Math.round(upstreamMs * 1000),
    address: json['address'],
    agent: json['agent'],
  } as unknown as CallRecord
  return { call, target, key }
}
