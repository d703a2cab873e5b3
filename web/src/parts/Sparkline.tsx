import { words } from '../../words/en.ts'
import classes from './sparkline.module.css'

const height = 20
const barWidth = 4

/** The last 24 hours in a table cell: calls as bars, refused and failed calls in red. */
export function Sparkline({
  calls,
  failed,
}: {
  readonly calls: readonly number[]
  readonly failed: readonly number[]
}) {
  const most = Math.max(1, ...calls)
  const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
  return (
    <svg
      className={classes.spark}
      width={calls.length * barWidth}
      height={height}
      role="img"
      aria-label={words.spark(sum(calls), sum(failed))}
    >
      {calls.map((number, hour) => {
        const whole = number === 0 ? 0 : Math.max(1, (number / most) * height)
        const bad = whole * ((failed[hour] ?? 0) / Math.max(1, number))
        return (
          // oxlint-disable-next-line no-array-index-key -- An hour is identified by its position.
          <g key={hour}>
            <rect x={hour * barWidth} y={height - whole} width={barWidth - 1} height={whole} />
            <rect
              className={classes.failed}
              x={hour * barWidth}
              y={height - bad}
              width={barWidth - 1}
              height={bad}
            />
          </g>
        )
      })}
    </svg>
  )
}
