import type { CallRecord } from '../store/index.ts'
import type { LogRecord } from '../telemetry/index.ts'

/** Attributes for which OpenTelemetry's semantic conventions have no name begin with `intercept.`. */
export function callLogOf(record: CallRecord): LogRecord {
  return {
    at: record.at,
    event: record.stoppedAt === undefined ? 'call.forwarded' : 'call.refused',
    isWarning: record.stoppedAt !== undefined || record.status >= 500,
    body: `${record.method} ${record.path} ${record.status}`,
    attributes: {
      'intercept.request.id': record.id,
      'intercept.organization.id': record.organizationId,
      'intercept.key.id': record.keyId,
      'intercept.target.id': record.targetId,
      'intercept.refusal': record.refusal,
      'intercept.stopped_at': record.stoppedAt,
      'intercept.rule.id': record.ruleId,
      'intercept.duration_us': record.durationUs,
      'intercept.upstream_us': record.upstreamUs,
      'http.request.method': record.method,
      'url.path': record.path,
      'http.response.status_code': record.status,
      'http.request.body.size': record.bytesIn,
      'http.response.body.size': record.bytesOut,
      'client.address': record.address,
      'user_agent.original': record.agent,
    },
  }
}
