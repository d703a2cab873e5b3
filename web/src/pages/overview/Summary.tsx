import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { rollupQuery, type Rollup } from '../../api/traffic.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { TimeChart } from '../../parts/chart/TimeChart.tsx'
import { Kpis, type Kpi } from '../../parts/Kpis.tsx'
import { count, duration, percent, short } from '../../parts/numbers.ts'
import type { RangeSearch } from '../../parts/range.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { totals, trafficSeries } from '../../parts/traffic-series.ts'
import classes from './overview.module.css'

export function Summary({
  organization,
  range,
}: {
  readonly organization: string
  readonly range: RangeSearch
}) {
  const now = useQuery(rollupQuery(organization, { range }))
  const past = useQuery(rollupQuery(organization, { range, previous: true }))
  const navigate = useNavigate()
  if (now.data === undefined)
    return (
      <Card label={w.traffic}>
        <QueryState query={now} />
      </Card>
    )
  const { points, step_ms: stepMs } = now.data
  const params = { organization }
  return (
    <Card flush label={w.traffic}>
      <Kpis kpis={figures(now.data, past.data)} />
      <div className={classes.chart}>
        <TimeChart
          title={w.traffic}
          at={points.map((point) => point.at)}
          stepMs={stepMs}
          series={trafficSeries(points)}
          format={short}
          height={196}
          onPick={(from, to) => {
            const search = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
            void navigate({ to: '/o/$organization/calls', params, search })
          }}
          actions={
            <ButtonLink small to="/o/$organization/calls" params={params} search={range}>
              {w.showCalls}
            </ButtonLink>
          }
        />
      </div>
    </Card>
  )
}

function figures(now: Rollup, past: Rollup | undefined): readonly Kpi[] {
  const sum = totals(now.points)
  // Without earlier data there is no period to compare with.
  const old = past === undefined || past.points.length === 0 ? undefined : totals(past.points)
  const earlier = old === undefined || old.all === 0 ? undefined : old
  const share = (part: number) => (part === 0 ? undefined : percent(part, sum.all))
  const p95 = now.latency?.p95_ms
  return [
    {
      ...{ id: 'calls', label: w.kpis.calls, value: sum.all, shown: count(sum.all) },
      ...{ before: earlier?.all, more: 'plain' },
    },
    {
      ...{ id: 'refused', label: w.kpis.refused, value: sum.refused, shown: count(sum.refused) },
      ...{ small: share(sum.refused), before: earlier?.refused, more: 'bad' },
    },
    {
      ...{ id: 'errors', label: w.kpis.errors, value: sum.errors, shown: count(sum.errors) },
      ...{ small: share(sum.errors), before: earlier?.errors, more: 'bad' },
    },
    {
      ...{ id: 'p95', label: w.kpis.p95, value: p95, shown: duration(p95 ?? 0) },
      ...{ before: past?.latency?.p95_ms, more: 'bad' },
    },
  ]
}
