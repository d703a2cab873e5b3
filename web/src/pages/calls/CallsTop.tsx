import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CallFilter } from '../../api/calls.ts'
import { rollupQuery } from '../../api/traffic.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { TimeChart } from '../../parts/chart/TimeChart.tsx'
import { duration, short } from '../../parts/numbers.ts'
import { Segments } from '../../parts/Segments.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card } from '../../parts/Surface.tsx'
import { latencySeries, trafficSeries } from '../../parts/traffic-series.ts'
import classes from './calls.module.css'
import { Figures } from './Figures.tsx'

interface CallsTopProps {
  readonly organization: string
  readonly filter: CallFilter
  readonly onPick: (from: number, to: number) => void
}

export function CallsTop({ organization, filter, onPick }: CallsTopProps) {
  const rollup = useQuery(rollupQuery(organization, { range: filter, filter }))
  const [view, setView] = useState<'traffic' | 'latency'>('traffic')
  if (rollup.data === undefined)
    return rollup.isError ? (
      <ProblemNotice error={rollup.error} retry={() => void rollup.refetch()} />
    ) : (
      <div className={classes.waits}>
        <Loading />
      </div>
    )
  const { points, step_ms: stepMs, sampled } = rollup.data
  return (
    <div className={classes.above}>
      <Card flush label={w.figures}>
        <div className={classes.top}>
          <div className={classes.numbers}>
            <Figures stacked rollup={rollup.data} />
          </div>
          <div className={classes.plot}>
            <TimeChart
              title={view === 'traffic' ? w.traffic : sampled ? w.latencySampled : w.latency}
              at={points.map((point) => point.at)}
              stepMs={stepMs}
              series={view === 'traffic' ? trafficSeries(points) : latencySeries(points)}
              format={view === 'traffic' ? short : duration}
              onPick={onPick}
              actions={
                <Segments
                  label={w.view}
                  value={view}
                  options={w.views}
                  onValue={(next) => setView(next as 'traffic' | 'latency')}
                />
              }
            />
          </div>
        </div>
      </Card>
    </div>
  )
}
