import type { KeyDefaults } from '../access/index.ts'
import type { TargetSettings } from '../targets/index.ts'

/** What a file says of an organization. What it leaves out of a target has its default. */
export interface Configuration {
  readonly organization: { readonly slug: string; readonly name: string }
  readonly key_defaults: {
    readonly scheme: KeyDefaults['scheme']
    readonly expires_after_days: number | null
    readonly cidrs: readonly string[] | null
  }
  readonly targets: readonly TargetEntry[]
}

/** One target, every field in its plain form, so that equal targets are equal texts. */
export interface TargetEntry {
  readonly slug: string
  readonly name: string
  readonly upstream: string
  readonly credential: { readonly header: string; readonly value: string } | null
  readonly rules: readonly string[]
  readonly otherwise: 'allow' | 'refuse' | null
  readonly disabled: boolean
  readonly settings: Readonly<Record<string, unknown>>
}

/** The name of a setting in files, by its name inside. */
export const settingNames: Readonly<Record<keyof TargetSettings, string>> = {
  paths: 'paths',
  browsers: 'browsers',
  rateLimit: 'rate_limit',
  rateScope: 'rate_scope',
  quota: 'quota',
  bodyBytes: 'body_bytes',
  connectMs: 'connect_ms',
  firstByteMs: 'first_byte_ms',
  idleMs: 'idle_ms',
  records: 'records',
  assertion: 'assertion',
  answerHeaders: 'response_headers',
  capture: 'capture',
  ca: 'ca',
}
