import type { ReactNode } from 'react'
import { words } from '../../words/en.ts'
import { cx } from './cx.ts'
import classes from './kpis.module.css'
import { count, percent } from './numbers.ts'

const manyTimes = 10

export interface Kpi {
  readonly id: string
  readonly label: string
  readonly value: number | undefined
  readonly shown: string
  readonly small?: ReactNode
  readonly before?: number | undefined
  /** Whether an increase is bad news or neutral. */
  readonly more: 'bad' | 'plain'
}

export function Kpis({
  kpis,
  stacked = false,
}: {
  readonly kpis: readonly Kpi[]
  readonly stacked?: boolean
}) {
  return (
    <dl className={cx(classes.kpis, stacked && classes.stacked)}>
      {kpis.map((kpi) => (
        <div key={kpi.id}>
          <dt>{kpi.label}</dt>
          <dd>
            <span>{kpi.value === undefined ? '–' : kpi.shown}</span>
            {kpi.small === undefined ? undefined : <small>{kpi.small}</small>}
            <Change kpi={kpi} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Change({ kpi }: { readonly kpi: Kpi }) {
  const { value, before, more } = kpi
  if (value === undefined || before === undefined) return undefined
  if (value === before) return <span className={classes.same}>{words.noChange}</span>
  // An increase from zero has no percentage.
  if (before === 0) return undefined
  const up = value > before
  const tone = more === 'bad' ? (up ? classes.bad : classes.good) : classes.same
  // A factor reads better than thousands of percent.
  const times = value / before
  const text =
    times >= manyTimes ? `${count(Math.round(times))}×` : percent(Math.abs(value - before), before)
  return (
    <span className={tone} title={words.againstBefore}>
      <span aria-hidden="true">{up ? '↑' : '↓'}</span>
      <span className="visually-hidden">{up ? words.more : words.less}</span> {text}
    </span>
  )
}
