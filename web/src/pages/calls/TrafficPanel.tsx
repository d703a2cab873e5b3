import { useQuery } from '@tanstack/react-query'
import type { CallFilter } from '../../api/calls.ts'
import { rollupQuery, type Rollup } from '../../api/traffic.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import type { ChartProps } from '../../parts/chart/series.ts'
import { TimeChart } from '../../parts/chart/TimeChart.tsx'
import { duration, short } from '../../parts/numbers.ts'
import { RangePicker } from '../../parts/RangePicker.tsx'
import type { RangeSearch } from '../../parts/range.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card, Columns, Pile } from '../../parts/Surface.tsx'
import { latencySeries, partSeries, trafficSeries } from '../../parts/traffic-series.ts'
import { Figures } from './Figures.tsx'

interface PanelProps {
  readonly organization: string
  readonly filter: CallFilter
  readonly range: RangeSearch
  readonly onRange: (range: RangeSearch) => void
}

export function TrafficPanel(panel: PanelProps) {
  const { organization, filter, range, onRange } = panel
  const rollup = useQuery(rollupQuery(organization, { range, filter, parts: true }))
  return (
    <Pile>
      <RangePicker search={range} onRange={onRange} />
      {rollup.data !== undefined ? (
        <Charts {...panel} rollup={rollup.data} />
      ) : (
        <QueryState query={rollup} />
      )}
    </Pile>
  )
}

function Charts({
  organization,
  filter,
  range,
  rollup,
  onRange,
}: PanelProps & { readonly rollup: Rollup }) {
  const { points, step_ms: stepMs } = rollup
  const onPick = (from: number, to: number) =>
    onRange({
      range: undefined,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
    })
  const chart = { at: points.map((point) => point.at), stepMs, onPick }
  return (
    <>
      <Card flush label={w.figures}>
        <Figures rollup={rollup} />
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
      <Latencies chart={chart} points={points} />
    </>
  )
}

function Latencies({
  chart,
  points,
}: {
  readonly chart: Pick<ChartProps, 'at' | 'stepMs' | 'onPick'>
  readonly points: Rollup['points']
}) {
  return (
    <Columns>
      <Card label={w.latency}>
        <TimeChart
          {...chart}
          title={w.latency}
          series={latencySeries(points)}
          format={duration}
          isTime
        />
      </Card>
      <Card label={w.parts}>
        <TimeChart
          {...chart}
          title={w.parts}
          series={partSeries(points)}
          format={duration}
          isTime
        />
      </Card>
    </Columns>
  )
}
