import { useQuery } from '@tanstack/react-query'
import { rollupQuery, type Rollup } from '../../api/traffic.ts'
import { targetsWords } from '../../../words/en/targets.ts'
import { words } from '../../../words/en.ts'
import { duration, percent } from '../../parts/numbers.ts'
import classes from '../../parts/sparkline.module.css'
import { Card } from '../../parts/Surface.tsx'
import { exact } from '../../parts/Time.tsx'

const w = targetsWords.strip
/** A step with at least this share of failures counts as failing. */
const badShare = 0.5

export function HealthStrip({
  organization,
  target,
}: {
  readonly organization: string
  readonly target: string
}) {
  const rollup = useQuery(rollupQuery(organization, { range: {}, filter: { target } }))
  if (rollup.data === undefined) return undefined
  const { points } = rollup.data
  const asked = points.reduce((sum, { passed, errors }) => sum + passed + errors, 0)
  const failed = points.reduce((sum, { errors }) => sum + errors, 0)
  const said = asked === 0 ? w.quiet : w.said(percent(asked - failed, asked))
  return (
    <Card title={w.title} lead={said}>
      <div className={classes.strip} role="img" aria-label={`${w.title}. ${said}`}>
        {points.map((point) => (
          <span key={point.at} data-health={healthOf(point)} title={titleOf(point)} />
        ))}
      </div>
      <div className={classes.ends} aria-hidden="true">
        <span>{w.ago}</span>
        <span>{w.now}</span>
      </div>
    </Card>
  )
}

type Point = Rollup['points'][number]

function healthOf({ passed, errors }: Point): 'well' | 'some' | 'bad' | 'quiet' {
  if (passed + errors === 0) return 'quiet'
  if (errors === 0) return 'well'
  return errors / (passed + errors) >= badShare ? 'bad' : 'some'
}

function titleOf(point: Point): string {
  const { passed, errors, latency } = point
  const p95 = latency === undefined ? '' : `, ${words.latency.p95} ${duration(latency.p95_ms)}`
  return `${exact(point.at)}: ${w.step(passed, errors)}${p95}`
}
