import { Type, type Static } from '../../http/index.ts'
import { maxRateSeconds } from '../../rate.ts'
import type { RecordChoice as RecordChoiceText } from '../../record-choice.ts'
import type { Target, TargetInput } from '../../targets/index.ts'
import { nullable, oneOf, Time, time } from '../core/schemas.ts'

/** The number of calls per period, and how many may come at the same moment. */
export const Rate = Type.Object(
  {
    calls: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    per_seconds: Type.Integer({ minimum: 1, maximum: maxRateSeconds }),
    burst: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  },
  { title: 'TargetRateLimit', additionalProperties: false },
)
/** Which calls leave a record; every call is counted, whatever the choice. */
const RecordChoice = Type.String({ pattern: '^(all|refused|none|sampled 1/[1-9][0-9]{0,6})$' })
/** With `all`, the rate limit applies to all nodes together; with `node`, to each node separately. */
const RateScope = oneOf(['all', 'node'])
const Quota = Type.Object(
  {
    calls: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    period: oneOf(['day', 'month']),
  },
  { title: 'TargetQuota', additionalProperties: false },
)
const Timeouts = Type.Object(
  { connect_ms: Type.Integer(), first_byte_ms: Type.Integer(), idle_ms: Type.Integer() },
  { title: 'Timeouts', additionalProperties: false },
)
const ruleProperties = {
  effect: oneOf(['allow', 'deny']),
  /** An empty list means every method. */
  methods: Type.Array(Type.String({ maxLength: 10 }), { maxItems: 10 }),
  path: Type.String({ minLength: 1, maxLength: 1000 }),
  /** Whether the rule decides nothing and only counts the calls that it would refuse. */
  trial: Type.Boolean(),
}

/** The rules in a request. A rule keeps its id if an existing rule has that id; otherwise it gets a new id. */
export const RuleInputs = Type.Array(
  Type.Object(
    { id: Type.Optional(Type.String({ maxLength: 60 })), ...ruleProperties },
    { title: 'RuleInput', additionalProperties: false },
  ),
  { maxItems: 200 },
)

const LastLine = oneOf(['allow', 'refuse'])

/** In a request, the action for calls that no rule decides; null restores the default. */
export const OtherwiseInput = Type.Optional(nullable(LastLine))

export const ApiTarget = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    upstream: Type.String(),
    enabled: Type.Boolean(),
    health: oneOf(['healthy', 'unhealthy', 'unknown']),
    rules: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          ...ruleProperties,
          /** The calls that the rule decided in the last 7 days, or would have refused if it is a trial rule. */
          calls: Type.Integer(),
        },
        { title: 'Rule' },
      ),
    ),
    /** The action for a call that no rule decides. */
    otherwise: LastLine,
    /**
     * Whether `otherwise` was set explicitly. If not, `otherwise` is `refuse` while an allow rule is active, and
     * `allow` while none is.
     */
    otherwise_set: Type.Boolean(),
    /** The name of the header that carries the credential to the upstream. */
    credential_header: Type.Optional(Type.String()),
    rate_limit: Type.Optional(Rate),
    rate_scope: RateScope,
    quota: Type.Optional(Quota),
    call_records: RecordChoice,
    assertion: Type.Boolean(),
    verbatim_paths: Type.Boolean(),
    allow_browser: Type.Boolean(),
    timeouts: Timeouts,
    body_limit_bytes: Type.Integer(),
    answer_headers: Type.Array(Type.String()),
    capture: Type.Object({
      headers: Type.Array(Type.String()),
      body_bytes: Type.Integer(),
      redact: Type.Array(Type.String()),
    }),
    /** The CA certificate (PEM) to trust for the upstream instead of Node's default ones. */
    ca: Type.Optional(Type.String()),
    created_at: Time,
    calls24h: Type.Integer(),
    refused24h: Type.Integer(),
    version: Type.Integer(),
  },
  { title: 'Target' },
)

/** The fields that an edit may change; omitted ones keep their value. */
export const targetInputProperties = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  upstream: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  enabled: Type.Optional(Type.Boolean()),
  credential: Type.Optional(
    nullable(
      Type.Object(
        { header: Type.String({ maxLength: 64 }), value: Type.String({ maxLength: 8192 }) },
        { title: 'CredentialInput', additionalProperties: false },
      ),
    ),
  ),
  rate_limit: Type.Optional(nullable(Rate)),
  rate_scope: Type.Optional(RateScope),
  quota: Type.Optional(nullable(Quota)),
  call_records: Type.Optional(nullable(RecordChoice)),
  assertion: Type.Optional(Type.Boolean()),
  verbatim_paths: Type.Optional(Type.Boolean()),
  allow_browser: Type.Optional(Type.Boolean()),
  ca: Type.Optional(nullable(Type.String({ maxLength: 20_000 }))),
  timeouts: Type.Optional(Timeouts),
  body_limit_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
  answer_headers: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 20 })),
  capture: Type.Optional(
    Type.Object(
      {
        headers: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 }),
        body_bytes: Type.Integer({ minimum: 0, maximum: 16_384 }),
        redact: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
      },
      { title: 'CaptureInput', additionalProperties: false },
    ),
  ),
  rules: Type.Optional(RuleInputs),
  otherwise: OtherwiseInput,
}

const TargetBody = Type.Object(targetInputProperties)

export function toTargetInput(body: Static<typeof TargetBody>): TargetInput {
  const { name, upstream, enabled, credential, timeouts, capture, rules, rate_limit: rate } = body
  return {
    name,
    upstream,
    disabled: enabled === undefined ? undefined : !enabled,
    credential,
    rules,
    otherwise: body.otherwise,
    settings: {
      rateLimit: rate && { calls: rate.calls, perSeconds: rate.per_seconds, burst: rate.burst },
      rateScope: body.rate_scope,
      quota: body.quota,
      records: body.call_records as RecordChoiceText | null | undefined,
      assertion: body.assertion,
      paths: body.verbatim_paths === undefined ? undefined : pathsOf(body.verbatim_paths),
      browsers: body.allow_browser,
      ca: body.ca,
      connectMs: timeouts?.connect_ms,
      firstByteMs: timeouts?.first_byte_ms,
      idleMs: timeouts?.idle_ms,
      bodyBytes: body.body_limit_bytes,
      answerHeaders: body.answer_headers,
      capture: capture && captureOf(capture),
    },
  }
}

function pathsOf(verbatim: boolean): 'verbatim' | 'canonical' {
  return verbatim ? 'verbatim' : 'canonical'
}

/** Returns null for capture settings that keep nothing. */
function captureOf(capture: { headers: string[]; body_bytes: number; redact?: string[] }) {
  const { headers, body_bytes: bodyBytes, redact = [] } = capture
  return headers.length === 0 && bodyBytes === 0 ? null : { headers, bodyBytes, redact }
}

/** The counts of the calls to a target, refused ones included, and of those that each of its rules decided. */
export interface TargetCounts {
  readonly calls24h: number
  readonly refused24h: number
  /** The calls of the last 15 minutes that passed every check, and how many of them failed at the upstream. */
  readonly recent: { readonly calls: number; readonly errors: number }
  readonly ofRule: (id: string) => number
}

/** Converts a target to the API's form; of its credential, only the header's name is included. */
export function toApiTarget(target: Target, counts: TargetCounts): Static<typeof ApiTarget> {
  const { settings, credentialHeader } = target
  const { connectMs, firstByteMs, idleMs, capture, rateLimit, quota } = settings
  return {
    id: target.id,
    slug: target.slug,
    name: target.name,
    upstream: target.upstream,
    enabled: target.disabledAt === undefined,
    health: healthOf(counts.recent),
    rules: target.rules.map((rule) => ({
      id: rule.id,
      effect: rule.effect,
      methods: [...rule.methods],
      path: rule.path,
      trial: rule.trial,
      calls: counts.ofRule(rule.id),
    })),
    otherwise: target.lastLine,
    otherwise_set: target.otherwise !== undefined,
    ...(credentialHeader === undefined ? {} : { credential_header: credentialHeader }),
    ...(rateLimit === undefined
      ? {}
      : {
          rate_limit: {
            calls: rateLimit.calls,
            per_seconds: rateLimit.perSeconds,
            ...(rateLimit.burst === undefined ? {} : { burst: rateLimit.burst }),
          },
        }),
    rate_scope: settings.rateScope,
    ...(quota === undefined ? {} : { quota }),
    call_records: settings.records,
    assertion: settings.assertion,
    verbatim_paths: settings.paths === 'verbatim',
    allow_browser: settings.browsers,
    timeouts: { connect_ms: connectMs, first_byte_ms: firstByteMs, idle_ms: idleMs },
    body_limit_bytes: settings.bodyBytes,
    answer_headers: [...settings.answerHeaders],
    capture: {
      headers: [...(capture?.headers ?? [])],
      body_bytes: capture?.bodyBytes ?? 0,
      redact: [...(capture?.redact ?? [])],
    },
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
    created_at: time(target.createdAt),
    calls24h: counts.calls24h,
    refused24h: counts.refused24h,
    version: target.version,
  }
}

function healthOf(recent: TargetCounts['recent']): 'healthy' | 'unhealthy' | 'unknown' {
  if (recent.calls === 0) return 'unknown'
  return recent.errors * 2 >= recent.calls ? 'unhealthy' : 'healthy'
}
