import { useQuery } from '@tanstack/react-query'
import { rollupQuery } from '../../api/traffic.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { Bars } from '../../parts/Bars.tsx'
import { count, duration, percent } from '../../parts/numbers.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import classes from './calls.module.css'

const hourMs = 3_600_000
const minuteMs = 60_000

/** The last hour in three numbers and sixty bars. */
export function CallsTop({
  organization,
  target,
  apiKey,
}: {
  readonly organization: string
  readonly target: string | undefined
  readonly apiKey: string | undefined
}) {
  const rollup = useQuery(
    rollupQuery(organization, { spanMs: hourMs, stepMs: minuteMs, target, key: apiKey }),
  )
  if (rollup.data === undefined)
    return rollup.isError ? (
      <ProblemNotice error={rollup.error} retry={() => void rollup.refetch()} />
    ) : (
      <Loading />
    )
  const { points, p95_ms: p95Ms } = rollup.data
  const refused = points.reduce((sum, point) => sum + point.refused, 0)
  const all = points.reduce((sum, point) => sum + point.passed, refused)
  return (
    <div className={classes.above}>
      <Card flush label={w.lastHour}>
        <div className={classes.top}>
          <dl className={classes.numbers}>
            <div>
              <dt>{w.numbers.calls}</dt>
              <dd>{count(all)}</dd>
            </div>
            <div>
              <dt>{w.numbers.refused}</dt>
              <dd>
                {count(refused)} {refused > 0 ? <small>{percent(refused, all)}</small> : undefined}
              </dd>
            </div>
            <div>
              <dt>{w.numbers.p95}</dt>
              <dd>{p95Ms === undefined ? '–' : duration(p95Ms)}</dd>
            </div>
          </dl>
          <div className={classes.plot}>
            <Bars bars={points} title={w.lastHour} stepMs={minuteMs} />
          </div>
        </div>
      </Card>
    </div>
  )
}
