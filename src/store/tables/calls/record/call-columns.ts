import type { KeyId, OrganizationId, RequestId, TargetId } from '../../../../ids.ts'
import type { CallRecord } from './call-record.ts'

/** A call record as a row; SQLite keeps its rows in blocks (call-block.ts). */
export interface CallTable {
  organization_id: string
  id: string
  at: number
  key_id: string
  target_id: string | null
  method: string
  path: string
  status: number
  refusal: string | null
  stopped_at: string | null
  rule_id: string | null
  trial_rule_id: string | null
  bytes_in: number
  bytes_out: number
  duration_us: number
  upstream_us: number | null
  address: string
  agent: string | null
  capture: string | null
}

export type CallColumn = keyof CallTable

/** The columns in the order in which rows are written as lists of values. */
export const callColumns = [
  'organization_id',
  'id',
  'at',
  'key_id',
  'target_id',
  'method',
  'path',
  'status',
  'refusal',
  'stopped_at',
  'rule_id',
  'trial_rule_id',
  'bytes_in',
  'bytes_out',
  'duration_us',
  'upstream_us',
  'address',
  'agent',
  'capture',
] as const satisfies readonly CallColumn[]

/** A row as a list of values, one for each of some columns. */
export type CallValues = readonly (string | number | null)[]

/** Returns the values of some columns as an object. This is several times faster than `Object.fromEntries`. */
export function rowOf(names: readonly CallColumn[], values: CallValues): Partial<CallTable> {
  const row: Record<string, string | number | null> = {}
  for (let at = 0; at < names.length; at++) row[names[at] ?? ''] = values[at] ?? null
  return row
}

export function callRecordOf(row: CallTable): CallRecord {
  return {
    id: row.id as RequestId,
    at: row.at,
    organizationId: row.organization_id as OrganizationId,
    keyId: row.key_id as KeyId,
    targetId: (row.target_id as TargetId | null) ?? undefined,
    method: row.method,
    path: row.path,
    status: row.status,
    refusal: row.refusal ?? undefined,
    stoppedAt: row.stopped_at ?? undefined,
    ruleId: row.rule_id ?? undefined,
    trialRuleId: row.trial_rule_id ?? undefined,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    durationUs: row.duration_us,
    upstreamUs: row.upstream_us ?? undefined,
    address: row.address,
    agent: row.agent ?? undefined,
    capture: row.capture ?? undefined,
  }
}
