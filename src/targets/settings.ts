import { coversMethod } from './rules.ts'
import { Problem } from '../errors.ts'
import { foldHeaderName, originHeaders } from '../http/message/index.ts'
import type { Quota } from '../access/index.ts'
import { isCount, isRate, type Rate } from '../rate.ts'
import { snakeName } from '../store/index.ts'
import type { PathMode } from './path.ts'
import { parseRecordChoice, type RecordChoice } from '../record-choice.ts'

/** The parts of calls that are captured for inspection; nothing by default. */
export interface CaptureSettings {
  /** Lower-case names of captured request and response headers. */
  readonly headers: readonly string[]
  /** How many bytes of each body are captured; 0 captures none. */
  readonly bodyBytes: number
  /** Names of JSON members and form fields whose values are masked in captured bodies. */
  readonly redact: readonly string[]
}

export interface TargetSettings {
  readonly paths: PathMode
  /** Whether keys may be used from web pages. */
  readonly browsers: boolean
  readonly rateLimit: Rate | undefined
  /** Whether the rate applies to all nodes together or to each node. */
  readonly rateScope: 'all' | 'node'
  readonly quota: Quota | undefined
  readonly bodyBytes: number
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  /** Which calls leave a record; all of them are counted, whatever the choice. */
  readonly records: RecordChoice
  /** Whether calls carry Intercept-Assertion. */
  readonly assertion: boolean
  /** Response headers that affect our origin but are passed through anyway; lower case. */
  readonly answerHeaders: readonly string[]
  readonly capture: CaptureSettings | undefined
  /** A CA certificate (PEM) to trust for the upstream instead of Node's default ones. */
  readonly ca: string | undefined
}

/** Settings to change; omitted ones keep their current value or default, and null restores the default. */
export type TargetSettingsInput = {
  readonly [S in keyof TargetSettings]?: TargetSettings[S] | null | undefined
}

export function defaultSettings(bodyBytes: number, records: RecordChoice = 'all'): TargetSettings {
  return {
    records,
    paths: 'canonical',
    browsers: false,
    rateLimit: undefined,
    rateScope: 'all',
    quota: undefined,
    bodyBytes,
    connectMs: 5000,
    firstByteMs: 60_000,
    idleMs: 300_000,
    assertion: false,
    answerHeaders: [],
    capture: undefined,
    ca: undefined,
  }
}

/** Only settings that somebody has set are stored. Throws `invalid_input`. */
export function mergeSettings(
  stored: Readonly<Record<string, unknown>>,
  input: TargetSettingsInput,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...stored }
  for (const [name, value] of Object.entries(input)) {
    const check = checks[name as keyof TargetSettings]
    if (check === undefined) throw wrong(name, 'is not a setting of a target')
    if (value === null) delete merged[name]
    else if (value !== undefined) {
      const fault = check(value)
      if (fault !== undefined) throw wrong(name, fault)
      merged[name] = plain(name, value)
    }
  }
  return merged
}

/** The stored settings were validated when they were written. */
export function readSettings(
  stored: Readonly<Record<string, unknown>>,
  defaults: TargetSettings,
): TargetSettings {
  return { ...defaults, ...stored }
}

/** Converts a setting to the form in which it is stored: header names in lower case and without duplicates. */
function plain(name: string, value: unknown): unknown {
  if (name === 'answerHeaders') return lowerCase(value as string[])
  if (name !== 'capture') return value
  const capture = value as CaptureSettings
  return { ...capture, headers: lowerCase(capture.headers) }
}

function lowerCase(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))]
}

type Check = (value: unknown) => string | undefined

const checks: { readonly [S in keyof TargetSettings]: Check } = {
  paths: (value) =>
    value === 'canonical' || value === 'verbatim' ? undefined : 'is canonical or verbatim',
  browsers: isBoolean,
  rateLimit: (value) =>
    isRate(value as Partial<Rate>, 1_000_000)
      ? undefined
      : 'has 1 to 1,000,000 calls in 1 to 86,400 seconds, and perhaps a burst',
  rateScope: (value) => (value === 'all' || value === 'node' ? undefined : 'is all or node'),
  quota: (value) => {
    const quota = value as Partial<Quota>
    const fine =
      isCount(quota.calls, Number.MAX_SAFE_INTEGER) &&
      (quota.period === 'day' || quota.period === 'month')
    return fine ? undefined : 'has calls and a period of day or month'
  },
  bodyBytes: (value) =>
    value === 0 || isCount(value, Number.MAX_SAFE_INTEGER) ? undefined : 'is a number of bytes',
  connectMs: (value) => (isCount(value, 60_000) ? undefined : 'is 1 to 60,000 milliseconds'),
  firstByteMs: (value) => (isCount(value, 3_600_000) ? undefined : 'is 1 ms to one hour'),
  idleMs: (value) => (isCount(value, 86_400_000) ? undefined : 'is 1 ms to one day'),
  records: (value) =>
    parseRecordChoice(String(value)) === value ? undefined : 'is all, refused, none or sampled 1/n',
  assertion: isBoolean,
  answerHeaders: (value) =>
    Array.isArray(value) && value.every((name) => originHeaders.has(String(name).toLowerCase()))
      ? undefined
      : `is a list of ${[...originHeaders].join(', ')}`,
  capture: (value) => {
    const { headers, bodyBytes, redact } = value as Partial<CaptureSettings>
    if (!isNameList(headers) || headers.some((name) => neverCaptured.has(foldHeaderName(name)))) {
      return 'has a list of headers, none of them a credential'
    }
    if (bodyBytes !== 0 && !isCount(bodyBytes, 16_384)) return 'keeps 0 to 16,384 bytes of a body'
    return isNameList(redact) ? undefined : 'has a list of names to black out'
  },
  ca: (value) =>
    typeof value === 'string' &&
    value.length < 20_000 &&
    value.includes('-----BEGIN CERTIFICATE-----')
      ? undefined
      : 'is a certificate in PEM form',
}

/** Headers that carry credentials; they can't be captured, however their names are spelled. */
const neverCaptured: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'cookie',
  'set-cookie',
  'proxy-authorization',
])

export function grantCovers(methods: readonly string[] | undefined, method: string): boolean {
  return methods === undefined || coversMethod(methods, method)
}

function isBoolean(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'is true or false'
}

function isNameList(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= 50 &&
    value.every((name) => typeof name === 'string' && /^[\w.-]{1,64}$/.test(name))
  )
}

function wrong(name: string, must: string): Problem {
  return new Problem('invalid_input', `${snakeName(name).slice(0, 40)} ${must}.`)
}
