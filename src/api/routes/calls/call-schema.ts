import { Type, type Static } from '../../../http/index.ts'
import { recordedPrefix, type CallRecord } from '../../../store/index.ts'
import { checks } from '../../../targets/index.ts'
import type { RouteOrganization } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'
import { oneOf, Time, time } from '../../core/schemas.ts'

const CapturedMessage = Type.Object(
  {
    /** The captured headers by lower-case name. */
    headers: Type.Record(Type.String(), Type.String()),
    /** The first bytes of the body as text, with `…` in place of masked values; missing if nothing was captured. */
    body: Type.Optional(Type.String()),
    /** The length of the complete body. */
    bytes: Type.Integer(),
  },
  { title: 'CapturedMessage' },
)
const Capture = Type.Object(
  {
    request: CapturedMessage,
    answer: CapturedMessage,
    /** Names of JSON members and form fields whose values are masked wherever they occur. */
    redacted: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Capture' },
)

export const ApiCall = Type.Object(
  {
    id: Type.String(),
    at: Time,
    key_id: Type.Optional(Type.String()),
    key_name: Type.Optional(Type.String()),
    key_hint: Type.Optional(Type.String()),
    /** The slug of the target; missing if there was none or it no longer exists. */
    target: Type.Optional(Type.String()),
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    code: Type.Optional(Type.String()),
    /** The check that stopped the call; `forward` means that the call failed while it was forwarded. */
    stopped_at: Type.Optional(oneOf(checks)),
    rule_id: Type.Optional(Type.String()),
    trial_rule_id: Type.Optional(Type.String()),
    request_bytes: Type.Integer(),
    answer_bytes: Type.Integer(),
    duration_ms: Type.Number(),
    upstream_ms: Type.Optional(Type.Number()),
    address: Type.String(),
    agent: Type.Optional(Type.String()),
    /** The data kept by the target's capture setting. */
    capture: Type.Optional(Capture),
  },
  { title: 'Call' },
)

/** Looks up the slugs of targets, and the names and hints of keys, by their ids. */
export interface Names {
  readonly target: (id: string) => string | undefined
  readonly key: (id: string) => { readonly name: string; readonly hint: string } | undefined
}

/** Loads the names needed for some calls. */
export async function namesFor(
  organization: RouteOrganization,
  found: readonly CallRecord[],
  services: Services,
): Promise<Names> {
  const targets = await services.targets.slugs(organization.id)
  const keys = await services.keys.names(organization.id, [
    ...new Set(found.map((call) => call.keyId)),
  ])
  return { target: (id) => targets.get(id), key: (id) => keys.get(id) }
}

/** Converts a call record for the API; a name that `names` does not know is left out. */
export function toApiCall(call: CallRecord, names: Names): Static<typeof ApiCall> {
  const key = names.key(call.keyId)
  const target = call.targetId === undefined ? undefined : names.target(call.targetId)
  const stoppedAt = checks.find((check) => check === call.stoppedAt)
  return {
    id: call.id,
    at: time(call.at),
    key_id: call.keyId,
    ...(key === undefined ? {} : { key_name: key.name, key_hint: key.hint }),
    ...(target === undefined ? {} : { target }),
    method: call.method,
    path: shownPath(call.path, target),
    status: call.status,
    ...(call.refusal === undefined ? {} : { code: call.refusal }),
    ...(stoppedAt === undefined ? {} : { stopped_at: stoppedAt }),
    ...(call.ruleId === undefined ? {} : { rule_id: call.ruleId }),
    ...(call.trialRuleId === undefined ? {} : { trial_rule_id: call.trialRuleId }),
    request_bytes: call.bytesIn,
    answer_bytes: call.bytesOut,
    duration_ms: call.durationUs / 1000,
    ...(call.upstreamUs === undefined ? {} : { upstream_ms: call.upstreamUs / 1000 }),
    address: call.address,
    ...(call.agent === undefined ? {} : { agent: call.agent }),
    ...(call.capture === undefined
      ? {}
      : { capture: JSON.parse(call.capture) as Static<typeof Capture> }),
  }
}

/**
 * Returns the path below the target, as rules see it; for an unknown target, the path begins with the name in the URL.
 */
function shownPath(recorded: string, target: string | undefined): string {
  if (!recorded.startsWith(`${recordedPrefix}/`)) return recorded
  const asked = recorded.slice(recordedPrefix.length)
  if (target === undefined || !`${asked}/`.startsWith(`/${target}/`)) return asked
  return asked.slice(target.length + 1) || '/'
}
