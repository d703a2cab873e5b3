import { words } from '../../words/en.ts'
import classes from './gauge.module.css'
import { count, percent } from './numbers.ts'
import { exact } from './Time.tsx'

interface Quota {
  readonly calls: number
  readonly period: 'day' | 'month'
  readonly used: number
  readonly resets_at: string
}

/** How much of a quota is used, as a bar and in words; warns from 80 %. */
export function QuotaGauge({ quota }: { readonly quota: Quota }) {
  const share = Math.min(1, quota.used / quota.calls)
  const tone = share >= 1 ? classes.full : share >= 0.8 ? classes.near : undefined
  const w = words.gauge
  return (
    <div className={classes.gauge}>
      <span className={classes.text}>
        <strong>{w.used(count(quota.used), count(quota.calls), w.periods[quota.period])}</strong>
        <span className="muted">{percent(quota.used, quota.calls)}</span>
      </span>
      <span
        className={classes.bar}
        role="meter"
        aria-label={w.label}
        aria-valuemin={0}
        aria-valuemax={quota.calls}
        aria-valuenow={Math.min(quota.used, quota.calls)}
      >
        <i className={tone} style={{ width: `${share * 100}%` }} />
      </span>
      <span className="muted small">{w.resets(exact(quota.resets_at))}</span>
    </div>
  )
}
