const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const maxSteps = 100

/** The ranges that can be chosen with one click: their length, and the step of their charts. */
export const ranges = {
  '1h': { spanMs: hourMs, stepMs: minuteMs },
  '24h': { spanMs: dayMs, stepMs: 15 * minuteMs },
  '7d': { spanMs: 7 * dayMs, stepMs: 2 * hourMs },
  '30d': { spanMs: 30 * dayMs, stepMs: 8 * hourMs },
} as const
export type RangeName = keyof typeof ranges

/** A range as kept in the URL: a name, or a start and an optional end (ISO 8601); with neither, the last 24 hours. */
export interface RangeSearch {
  readonly range?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A range in milliseconds since 1970, with its charts' step size. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

/** The name of the range in a URL, or '24h' if it names no known one; undefined if the URL has a start time. */
export function rangeName({ range, from }: RangeSearch): RangeName | undefined {
  if (from !== undefined) return undefined
  return range !== undefined && Object.hasOwn(ranges, range) ? (range as RangeName) : '24h'
}

/** The times that a range covers now; a named range ends with the current step. */
export function spanOf(search: RangeSearch, now = Date.now()): Span {
  const name = rangeName(search)
  if (name !== undefined) {
    const { spanMs, stepMs } = ranges[name]
    const to = Math.ceil(now / stepMs) * stepMs
    return { from: to - spanMs, to, stepMs }
  }
  const asked = Date.parse(search.from ?? '')
  const to = search.to === undefined ? now : Date.parse(search.to)
  const end = Number.isNaN(to) ? now : to
  const start = Number.isNaN(asked) || asked >= end ? end - hourMs : asked
  const stepMs = stepFor(end - start)
  return { from: Math.floor(start / stepMs) * stepMs, to: Math.ceil(end / stepMs) * stepMs, stepMs }
}

/** The preceding range of the same length, as a single step. */
export function before({ from, to }: Span): Span {
  return { from: from - (to - from), to: from, stepMs: to - from }
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440, 2880, 10_080, 43_200]

function stepFor(spanMs: number): number {
  const fits = steps.find((minutes) => spanMs / (minutes * minuteMs) <= maxSteps)
  return (fits ?? 43_200) * minuteMs
}
