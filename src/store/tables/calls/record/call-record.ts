import type { KeyId, OrganizationId, RequestId, TargetId } from '../../../../ids.ts'

/** One call to the gateway with an identified key. */
export interface CallRecord {
  readonly id: RequestId
  /** When the call arrived, in milliseconds since 1970. */
  readonly at: number
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly targetId: TargetId | undefined
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** The status sent to the caller; 0 if the caller left before the response. */
  readonly status: number
  readonly refusal: string | undefined
  /**
   * The check that refused the call, or `forward` if the call was refused while it was forwarded, for example because
   * the upstream did not respond; undefined for calls without a refusal.
   */
  readonly stoppedAt: string | undefined
  readonly ruleId: string | undefined
  readonly trialRuleId: string | undefined
  readonly bytesIn: number
  readonly bytesOut: number
  readonly durationUs: number
  readonly upstreamUs: number | undefined
  readonly address: string
  readonly agent: string | undefined
  /** The parts kept by the target's capture setting, as JSON. */
  readonly capture: string | undefined
}
