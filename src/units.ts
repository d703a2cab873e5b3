import type { Rate } from './rate.ts'

/**
 * Durations, sizes and rates as people write them. Each parser except `parseTime` throws an Error whose message
 * completes the sentence "NAME …".
 */

export const minuteMs = 60_000
export const quarterHourMs = 15 * minuteMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const msPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
}
const bytesPerUnit: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kib: 1024,
  kb: 1000,
  mib: 1024 ** 2,
  mb: 1000 ** 2,
  gib: 1024 ** 3,
  gb: 1000 ** 3,
}
const secondsPerPeriod: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Converts `30s`, `24h` or `90d` to milliseconds. */
export function parseDuration(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  const ms = msPerUnit[unit]
  if (digits === undefined || ms === undefined) {
    throw new Error('must be a duration such as 30s, 15m, 24h or 90d')
  }
  return Number(digits) * ms
}

/**
 * Converts a date such as `2027-01-31`, or a time such as `2027-01-31T12:00:00Z`, to milliseconds; without a zone it is
 * UTC. Returns undefined for other text and for days that do not exist: JavaScript alone would read 30 February as 2
 * March.
 */
export function parseTime(text: string): number | undefined {
  const [, day, clock, zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(text) ??
    []
  if (day === undefined) return undefined
  const midnight = Date.parse(`${day}T00:00Z`)
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined
  const ms = clock === undefined ? midnight : Date.parse(`${day}T${clock}${zone}`)
  return Number.isNaN(ms) ? undefined : ms
}

/** Converts `16KiB`, `100MiB` or `65536` to bytes. */
export function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d{1,12}) ?([a-z]*)$/.exec(text.toLowerCase()) ?? []
  const bytes = bytesPerUnit[unit]
  if (digits === undefined || bytes === undefined || Number(digits) === 0) {
    throw new Error('must be a size such as 16KiB, 100MiB or a number of bytes')
  }
  return Number(digits) * bytes
}

/** Converts `100/s`, `6000/m` or `5/10s` to calls and seconds. */
export function parseCallsPerSeconds(text: string): Rate {
  const [, digits, times, unit = ''] = /^(\d{1,9})\/(\d{0,4})([a-z])$/.exec(text) ?? []
  const perSeconds = (secondsPerPeriod[unit] ?? 0) * Number(times || 1)
  if (digits === undefined || Number(digits) === 0 || perSeconds === 0) {
    throw new Error('must be a rate such as 100/s, 6000/m or 5/10s')
  }
  return { calls: Number(digits), perSeconds }
}
