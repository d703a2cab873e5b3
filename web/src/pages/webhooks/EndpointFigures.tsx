import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { endpointFiguresQuery, type EndpointFigures as Figures } from '../../api/webhooks.ts'
import { webhookWords } from '../../../words/en/webhooks.ts'
import { TimeChart } from '../../parts/chart/TimeChart.tsx'
import type { Series } from '../../parts/chart/series.ts'
import { duration, short } from '../../parts/numbers.ts'
import { RangePicker } from '../../parts/RangePicker.tsx'
import type { RangeSearch } from '../../parts/range.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card, Columns, Pile } from '../../parts/Surface.tsx'

const w = webhookWords.figures

export function EndpointFigures({
  organization,
  endpoint,
}: {
  readonly organization: string
  readonly endpoint: string
}) {
  const [range, setRange] = useState<RangeSearch>({})
  const found = useQuery(endpointFiguresQuery(organization, endpoint, range))
  return (
    <Pile>
      <RangePicker search={range} onRange={setRange} />
      {found.data === undefined ? (
        <QueryState query={found} />
      ) : (
        <Charts figures={found.data} onRange={setRange} />
      )}
    </Pile>
  )
}

function Charts({
  figures,
  onRange,
}: {
  readonly figures: Figures
  readonly onRange: (range: RangeSearch) => void
}) {
  const { points, step_ms: stepMs, sampled } = figures
  const chart = {
    at: points.map(({ at }) => at),
    stepMs,
    onPick: (from: number, to: number) =>
      onRange({ from: new Date(from).toISOString(), to: new Date(to).toISOString() }),
  }
  const outcomes = sampled ? w.outcomesSampled : w.outcomes
  return (
    <>
      <Card label={outcomes}>
        <TimeChart {...chart} title={outcomes} series={outcomeSeries(points)} format={short} />
      </Card>
      <Columns>
        <Card label={w.latency}>
          <TimeChart
            {...chart}
            title={w.latency}
            series={latencyOf(points)}
            format={duration}
            isTime
          />
        </Card>
        <Card label={w.backlog}>
          <TimeChart {...chart} title={w.backlog} series={backlogOf(points)} format={short} />
        </Card>
      </Columns>
    </>
  )
}

type Points = Figures['points']
const { deliveryStates: states } = webhookWords

function outcomeSeries(points: Points): readonly Series[] {
  const bars = (
    id: 'delivered' | 'waiting' | 'dead' | 'skipped',
    label: string,
    tone: Series['tone'],
  ) => ({ id, label, tone, kind: 'bar', values: points.map((point) => point[id]) }) as const
  return [
    bars('delivered', states.delivered, 'flow'),
    bars('waiting', states.pending, 'caution'),
    bars('dead', states.dead, 'refuse'),
    bars('skipped', states.skipped, 'muted'),
  ]
}

function latencyOf(points: Points): readonly Series[] {
  const line = (id: 'p50_ms' | 'p95_ms', label: string, tone: Series['tone']) =>
    ({ id, label, tone, kind: 'line', values: points.map((point) => point[id]) }) as const
  return [line('p50_ms', 'p50', 'flow'), line('p95_ms', 'p95', 'accent')]
}

function backlogOf(points: Points): readonly Series[] {
  const values = points.map(({ backlog }) => backlog)
  return [{ id: 'backlog', label: w.waiting, tone: 'caution', kind: 'line', values }]
}
