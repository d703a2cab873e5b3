const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const roundTimes = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 4, 6, 8, 12, 24].map((hours) => hours * hourMs),
]

/** The values of one series, one for each step of a chart; undefined where nothing was measured. */
export interface Series {
  readonly id: string
  readonly label: string
  readonly tone: 'flow' | 'caution' | 'refuse' | 'accent' | 'muted'
  readonly kind: 'bar' | 'line'
  readonly values: readonly (number | undefined)[]
}

export interface ChartProps {
  readonly title: string
  /** The start of each step. */
  readonly at: readonly string[]
  readonly stepMs: number
  readonly series: readonly Series[]
  readonly format: (value: number) => string
  readonly height?: number
  /** Whether the values are milliseconds; the axis of long durations then ends at whole minutes. */
  readonly isTime?: boolean
  /** Called with a range selected by dragging or keyboard, in milliseconds since 1970. */
  readonly onPick?: ((from: number, to: number) => void) | undefined
}

/** Rounds a value up to a round number whose half is an integer too, for the top of an axis. */
export function niceTop(value: number): number {
  // The middle of the axis is labelled with half the value, and there are no fractions of a call.
  if (value <= 10) return Math.max(2, Math.ceil(value) + (Math.ceil(value) % 2))
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => value <= step * power) ?? 10) * power
}

/** Rounds a duration up to a round one: in milliseconds up to a minute, in minutes beyond. */
export function niceTime(ms: number): number {
  return ms <= minuteMs ? niceTop(ms) : niceTop(ms / minuteMs) * minuteMs
}

/** Returns the distance between two labels of a time axis: the shortest round time of at least `fewestSteps` steps. */
export function labelEvery(stepMs: number, fewestSteps: number): number {
  const least = stepMs * fewestSteps
  return roundTimes.find((ms) => ms >= least) ?? Math.ceil(least / dayMs) * dayMs
}

/** The highest point of the stacked bars and of the lines. */
export function highest(series: readonly Series[], steps: number): number {
  let most = 0
  for (let step = 0; step < steps; step++) {
    const stacked = series.reduce(
      (sum, one) => sum + (one.kind === 'bar' ? (one.values[step] ?? 0) : 0),
      0,
    )
    most = Math.max(most, stacked, ...series.map((one) => one.values[step] ?? 0))
  }
  return most
}

/** Splits a line at its gaps into pieces, each a list of [step, value]. */
export function piecesOf(values: Series['values']): readonly (readonly [number, number])[][] {
  const pieces: [number, number][][] = [[]]
  for (const [step, value] of values.entries()) {
    if (value !== undefined) pieces.at(-1)?.push([step, value])
    else if (pieces.at(-1)?.length !== 0) pieces.push([])
  }
  return pieces.filter((piece) => piece.length > 0)
}
