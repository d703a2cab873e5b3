// Stand-in until the server's route table is here; then these types come from it.
import type { Station } from '../parts/Line.tsx'

export type Role = 'owner' | 'admin' | 'developer' | 'viewer'
export type Permission =
  | 'traffic.see'
  | 'keys.issue'
  | 'keys.manage'
  | 'deliveries.replay'
  | 'targets.manage'
  | 'webhooks.manage'
  | 'members.manage'
  | 'audit.see'
  | 'organization.manage'
  | 'sso.manage'
  | 'owners.manage'
  | 'organization.delete'

export interface Organization {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: 'standard' | 'enterprise'
  readonly createdAt: number
}

export interface Grant {
  readonly target: string
  readonly methods: readonly string[]
}

export interface Limit {
  readonly calls: number
  readonly perSeconds: number
}

export interface Quota {
  readonly calls: number
  readonly per: 'day' | 'month'
}

export interface Key {
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly scheme: 'x-api-key' | 'bearer'
  readonly state: 'active' | 'revoked' | 'expired' | 'suspended'
  readonly grants: readonly Grant[] | null
  readonly cidrs: readonly string[]
  readonly limit: Limit | null
  readonly quota: Quota | null
  readonly personal: boolean
  readonly createdAt: number
  readonly createdBy: string | null
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
  readonly lastUsed: {
    readonly at: number
    readonly address: string
    readonly agent: string | null
    readonly target: string | null
  } | null
  readonly version: number
}

export interface Rule {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly methods: readonly string[]
  readonly path: string
  readonly trial: boolean
  readonly calls: number
}

export interface Target {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly upstream: string
  readonly enabled: boolean
  readonly health: 'healthy' | 'unhealthy' | 'unknown'
  readonly credentialHeader: string | null
  readonly limit: Limit | null
  readonly quota: Quota | null
  readonly calls24h: number
  readonly refused24h: number
  readonly version: number
}

export interface Call {
  readonly id: string
  readonly at: number
  readonly keyId: string | null
  readonly keyName: string | null
  readonly keyHint: string | null
  readonly target: string | null
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string | null
  readonly stoppedAt: Station | null
  readonly ruleId: string | null
  readonly requestBytes: number
  readonly answerBytes: number
  readonly durationMs: number
  readonly upstreamMs: number | null
  readonly address: string
  readonly agent: string | null
}
