import { Problem } from '../../errors.ts'

/**
 * Converts a time of the `Time` schema to milliseconds. Refuses leap seconds: RFC 3339 (section 5.7) allows them, but
 * JavaScript reads them as NaN, and an expiry of NaN would never be reached.
 */
export function momentOf(text: string): number {
  const ms = Date.parse(text)
  if (Number.isFinite(ms)) return ms
  throw new Problem('invalid_input', `There is no such time: ${text}. Seconds go from 00 to 59.`)
}

export function optionalMomentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : momentOf(text)
}

/** Converts the range of a chart to milliseconds, and checks it with `checkRange`. */
export function rangeOf(
  query: { readonly from: string; readonly to: string; readonly step_ms: number },
  maxSteps: number,
): { readonly from: number; readonly to: number; readonly stepMs: number } {
  const range = { from: momentOf(query.from), to: momentOf(query.to), stepMs: query.step_ms }
  checkRange(range, maxSteps)
  return range
}

/** Refuses a range that is empty or has too many steps. */
export function checkRange(
  { from, to, stepMs }: { readonly from: number; readonly to: number; readonly stepMs: number },
  maxSteps: number,
): void {
  if (from < to && (to - from) / stepMs <= maxSteps) return
  const detail = `from must be before to, with at most ${maxSteps} steps between them.`
  throw new Problem('invalid_input', detail)
}
