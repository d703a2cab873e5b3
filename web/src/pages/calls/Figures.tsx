import type { Rollup } from '../../api/traffic.ts'
import { callsWords as w } from '../../../words/en/calls.ts'
import { Kpis } from '../../parts/Kpis.tsx'
import { count, duration, percent } from '../../parts/numbers.ts'
import { Time } from '../../parts/Time.tsx'
import { totals } from '../../parts/traffic-series.ts'
import classes from './calls.module.css'

export function Figures({
  rollup,
  stacked = false,
}: {
  readonly rollup: Rollup
  readonly stacked?: boolean
}) {
  const { all, refused, errors } = totals(rollup.points)
  const { latency } = rollup
  const share = (part: number) => (part === 0 ? undefined : percent(part, all))
  return (
    <>
      <CountedBackTo at={rollup.searched_back_to} />
      <Kpis
        stacked={stacked}
        kpis={[
          { id: 'calls', label: w.numbers.calls, value: all, shown: count(all), more: 'plain' },
          {
            ...{ id: 'refused', label: w.numbers.refused, value: refused },
            ...{ shown: count(refused), small: share(refused), more: 'bad' },
          },
          {
            ...{ id: 'errors', label: w.numbers.errors, value: errors },
            ...{ shown: count(errors), small: share(errors), more: 'bad' },
          },
          {
            ...{ id: 'p95', label: w.numbers.p95, value: latency?.p95_ms },
            shown: duration(latency?.p95_ms ?? 0),
            small: latency && w.numbers.others(duration(latency.p50_ms), duration(latency.p99_ms)),
            more: 'bad',
          },
        ]}
      />
    </>
  )
}

/** Shows how far back calls were counted, if they could not be counted over the whole range. */
function CountedBackTo({ at }: { readonly at: string | undefined }) {
  if (at === undefined) return undefined
  return (
    <p className={classes.counted}>
      {w.countedBackTo} <Time at={at} form="row" />
    </p>
  )
}
