import { dayMs, hourMs, minuteMs } from '../../units.ts'

const secondMs = 1000

/** The delay before each of the ten attempts; before jitter, they add up to 75.6 hours. */
export const retryDelaysMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  dayMs,
]

const jitter = 0.2
const maxRetryAfterMs = dayMs

/**
 * Returns when the next attempt after `attempts` failures is due, in milliseconds since 1970; undefined if none is
 * left. If the receiver's Retry-After is longer than the scheduled delay, it applies instead, up to a day.
 */
export function nextAttemptAt(
  attempts: number,
  given: { nowMs: number; random: () => number; retryAfterMs?: number | undefined },
): number | undefined {
  const { nowMs, random, retryAfterMs = 0 } = given
  const delay = retryDelaysMs[attempts]
  if (delay === undefined) return undefined
  const own = delay * (1 - jitter + 2 * jitter * random())
  return Math.round(nowMs + Math.max(own, Math.min(retryAfterMs, maxRetryAfterMs)))
}

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3), seconds or a date, into milliseconds from now; undefined if it is
 * not valid.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined
  const text = value.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs
  // Dates contain a month's name; Date.parse alone would accept almost anything.
  if (!/[A-Za-z]{3}/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
