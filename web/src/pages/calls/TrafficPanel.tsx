import { useQuery } from '@tanstack/react-query'
import type { CallFilter } from '../../api/calls.ts'
import { rollupQuery } from '../../api/traffic.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { TimeChart } from '../../parts/chart/TimeChart.tsx'
import { duration, short } from '../../parts/numbers.ts'
import { RangePicker } from '../../parts/RangePicker.tsx'
import type { RangeSearch } from '../../parts/range.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card, Columns, Pile } from '../../parts/Surface.tsx'
import { latencySeries, partSeries, trafficSeries } from '../../parts/traffic-series.ts'
import { Figures } from './Figures.tsx'

/** The calls of one target or key over time: figures, how they ended, how long they took and where the time went. */
export function TrafficPanel({
  organization,
  filter,
  range,
  onRange,
}: {
  readonly organization: string
  readonly filter: CallFilter
  readonly range: RangeSearch
  readonly onRange: (range: RangeSearch) => void
}) {
  const rollup = useQuery(rollupQuery(organization, { range, filter, parts: true }))
  const picker = <RangePicker search={range} onRange={onRange} />
  if (rollup.data === undefined)
    return (
      <Pile>
        {picker}
        {rollup.isError ? (
          <ProblemNotice error={rollup.error} retry={() => void rollup.refetch()} />
        ) : (
          <Loading />
        )}
      </Pile>
    )
  const { points, step_ms: stepMs } = rollup.data
  const pick = (from: number, to: number) =>
    onRange({
      range: undefined,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    })
  const chart = { at: points.map((point) => point.at), stepMs, onPick: pick }
  return (
    <Pile>
      {picker}
      <Card flush label={w.figures}>
        <Figures rollup={rollup.data} />
      </Card>
      <Card label={w.traffic}>
        <TimeChart
          {...chart}
          title={w.traffic}
          series={trafficSeries(points)}
          format={short}
          actions={
            <ButtonLink
              small
              to="/o/$organization/calls"
              params={{ organization }}
              search={{ ...range, ...filter }}
            >
              {w.showCalls}
            </ButtonLink>
          }
        />
      </Card>
      <Columns>
        <Card label={w.latency}>
          <TimeChart
            {...chart}
            title={w.latency}
            series={latencySeries(points)}
            format={duration}
          />
        </Card>
        <Card label={w.parts}>
          <TimeChart {...chart} title={w.parts} series={partSeries(points)} format={duration} />
        </Card>
      </Columns>
    </Pile>
  )
}
