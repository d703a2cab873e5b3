import type { KeyId, OrganizationId, RequestId, TargetId } from '../../../ids.ts'

/** One pass of an identified key through the gateway. */
export interface CallRecord {
  readonly id: RequestId
  /** Milliseconds since 1970 at which it arrived. */
  readonly at: number
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly targetId: TargetId | undefined
  readonly method: string
  /** Without query. */
  readonly path: string
  /** What the caller got; 0 if it left before there was an answer. */
  readonly status: number
  readonly refusal: string | undefined
  /** The check that refused it; undefined for a call that was forwarded whole. */
  readonly stoppedAt: string | undefined
  readonly ruleId: string | undefined
  readonly trialRuleId: string | undefined
  readonly bytesIn: number
  readonly bytesOut: number
  readonly durationUs: number
  readonly upstreamUs: number | undefined
  readonly address: string
  readonly agent: string | undefined
  /** JSON of what the target's capture setting keeps. */
  readonly capture: string | undefined
}
