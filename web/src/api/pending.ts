// Stand-ins until the server's route table holds these; then the types come from it.
import type { Station } from '../parts/Line.tsx'

export interface RateLimit {
  readonly calls: number
  readonly perSeconds: number
}

export interface Quota {
  readonly calls: number
  readonly period: 'day' | 'month'
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
  readonly rules: readonly Rule[]
  readonly credentialHeader?: string
  readonly rateLimit?: RateLimit
  readonly quota?: Quota
  readonly assertion: boolean
  readonly verbatimPaths: boolean
  readonly allowBrowser: boolean
  readonly timeouts: {
    readonly connectMs: number
    readonly firstByteMs: number
    readonly idleMs: number
  }
  readonly bodyLimitBytes: number
  readonly capture: { readonly headers: readonly string[]; readonly bodyBytes: number }
  readonly calls24h: number
  readonly refused24h: number
  readonly version: number
}

export interface Call {
  readonly id: string
  readonly at: string
  readonly keyId?: string
  readonly keyName?: string
  readonly keyHint?: string
  readonly target?: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code?: string
  readonly stoppedAt?: Station
  readonly ruleId?: string
  readonly requestBytes: number
  readonly answerBytes: number
  readonly durationMs: number
  readonly upstreamMs?: number
  readonly address: string
  readonly agent?: string
}

export interface Rollup {
  readonly stepMs: number
  readonly points: readonly {
    readonly at: string
    readonly passed: number
    readonly refused: number
  }[]
  readonly refused: Readonly<Partial<Record<Station, number>>>
  readonly answered: number
  readonly p95Ms?: number
}

export interface Attention {
  readonly kind: string
  readonly title: string
  readonly text: string
  readonly subjectKind: string
  readonly subjectId: string
  readonly severity: 'refuse' | 'waits'
}

export interface FirstSteps {
  readonly target: boolean
  readonly key: boolean
  readonly call: boolean
  readonly endpoint: boolean
  readonly invited: boolean
}

export interface Tried {
  readonly allowed: boolean
  readonly status: number
  readonly code?: string
  readonly detail?: string
  readonly stoppedAt?: Station
  readonly ruleId?: string
  readonly wouldRefuse?: readonly string[]
}
