import { snakeCased } from '../../store/index.ts'
import type { RulePreview, Target, TargetInput, Targets } from '../../targets/index.ts'
import type { Remote } from './connection.ts'
import { part } from './organizations.ts'
import { toConfirmation, type Confirmed } from './confirmed.ts'
import { msOf } from './values.ts'

interface TargetJson {
  readonly [name: string]: unknown
  readonly version: number
  readonly rules: readonly Record<string, unknown>[]
  readonly timeouts: { connect_ms: number; first_byte_ms: number; idle_ms: number }
  readonly rate_limit?: { calls: number; per_seconds: number; burst?: number }
  readonly capture: { headers: string[]; body_bytes: number; redact: string[] }
}

export function remoteTargets(remote: Remote) {
  const at = (organizationId: string, slug?: string): string =>
    `/organizations/${part(organizationId)}/targets${slug === undefined ? '' : `/${part(slug)}`}`
  return {
    list: async (organizationId) => {
      const { items } = await remote.call<{ items: TargetJson[] }>(`GET ${at(organizationId)}`)
      return items.map(toTarget)
    },
    get: async (organizationId, slug) =>
      toTarget(await remote.call(`GET ${at(organizationId, slug)}`)),
    create: async (organizationId, input) =>
      toTarget(
        await remote.call(`POST ${at(organizationId)}`, { slug: input.slug, ...bodyOf(input) }),
      ),
    async edit({ organizationId, idOrSlug: slug }, input) {
      const before = await remote.call<TargetJson>(`GET ${at(organizationId, slug)}`)
      const body = bodyOf(input, before)
      const done = await remote.call<TargetJson & { confirmation: Confirmed }>(
        `PATCH ${at(organizationId, slug)}`,
        body,
        // All three timeouts are sent together, so the version makes sure that nobody has changed one of them since the
        // target was read.
        body.timeouts === undefined ? undefined : before.version,
      )
      const credentialDropped =
        before['credential_header'] !== undefined &&
        done['credential_header'] === undefined &&
        input.credential === undefined
      return {
        target: toTarget(done),
        credentialDropped,
        confirmation: toConfirmation(done.confirmation),
      }
    },
    remove: async (organizationId, slug) => {
      await remote.call(`DELETE ${at(organizationId, slug)}`)
    },
    preview: async ({ organizationId, idOrSlug }, { rules, otherwise }) =>
      toPreview(
        await remote.call(`POST ${at(organizationId, idOrSlug)}/rules/preview`, {
          rules,
          otherwise,
        }),
      ),
  } satisfies Partial<Targets>
}

interface PreviewJson {
  readonly [name: string]: unknown
  readonly items: readonly {
    readonly [name: string]: unknown
    readonly rule: number | null
  }[]
}

function toPreview(json: PreviewJson): RulePreview {
  return {
    from: msOf(json['from']),
    calls: json['calls'],
    refused: json['refused'],
    newlyRefused: json['newly_refused'],
    newlyAllowed: json['newly_allowed'],
    complete: json['complete'],
    lastLine: json['otherwise'],
    others: json['others'],
    list: json.items.map((group) => ({
      method: group['method'],
      path: group['path'],
      calls: group['calls'],
      rule: group.rule ?? undefined,
      isNew: group['newly'],
      lastId: group['last_call_id'],
      lastAt: msOf(group['last_at']),
    })),
  } as unknown as RulePreview
}

function bodyOf(input: TargetInput, before?: TargetJson) {
  const { settings = {} } = input
  const { connectMs, firstByteMs, idleMs } = settings
  const times = { connect_ms: connectMs, first_byte_ms: firstByteMs, idle_ms: idleMs }
  const changesTimes = Object.values(times).some((ms) => ms !== undefined && ms !== null)
  const known = Object.fromEntries(Object.entries(times).filter(([, ms]) => typeof ms === 'number'))
  return {
    name: input.name,
    upstream: input.upstream,
    enabled: input.disabled === undefined ? undefined : !input.disabled,
    credential: input.credential,
    rules: input.rules,
    otherwise: input.otherwise,
    rate_limit: snakeCased(settings.rateLimit),
    rate_scope: settings.rateScope ?? undefined,
    quota: settings.quota,
    call_records: settings.records,
    assertion: settings.assertion ?? undefined,
    verbatim_paths: settings.paths === undefined ? undefined : settings.paths === 'verbatim',
    allow_browser: settings.browsers ?? undefined,
    timeouts: changesTimes ? { ...usualTimes, ...before?.timeouts, ...known } : undefined,
    body_limit_bytes: settings.bodyBytes ?? undefined,
  }
}

const usualTimes = { connect_ms: 5000, first_byte_ms: 60_000, idle_ms: 300_000 }

function withoutCalls(rule: Readonly<Record<string, unknown>>): object {
  const { calls: _, ...kept } = rule
  return kept
}

function toTarget(json: TargetJson): Target {
  const { rate_limit: rate, capture, timeouts } = json
  const hasCapture = capture.headers.length > 0 || capture.body_bytes > 0
  return {
    id: json['id'],
    organizationId: '',
    slug: json['slug'],
    name: json['name'],
    upstream: json['upstream'],
    credentialHeader: json['credential_header'],
    otherwise: json['otherwise_set'] === true ? json['otherwise'] : undefined,
    lastLine: json['otherwise'],
    disabledAt: json['enabled'] === true ? undefined : 0,
    createdAt: msOf(json['created_at']),
    version: json['version'],
    rules: json.rules.map(withoutCalls),
    settings: {
      records: json['call_records'],
      paths: json['verbatim_paths'] === true ? 'verbatim' : 'canonical',
      browsers: json['allow_browser'],
      rateLimit: rate && { calls: rate.calls, perSeconds: rate.per_seconds, burst: rate.burst },
      rateScope: json['rate_scope'],
      quota: json['quota'],
      bodyBytes: json['body_limit_bytes'],
      connectMs: timeouts.connect_ms,
      firstByteMs: timeouts.first_byte_ms,
      idleMs: timeouts.idle_ms,
      assertion: json['assertion'],
      answerHeaders: json['answer_headers'],
      capture: hasCapture
        ? { headers: capture.headers, bodyBytes: capture.body_bytes, redact: capture.redact }
        : undefined,
      ca: json['ca'] ?? undefined,
    },
  } as unknown as Target
}
