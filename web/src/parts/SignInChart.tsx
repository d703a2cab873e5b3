import { useQuery } from '@tanstack/react-query'
import { signInsQuery, type SignIns } from '../api/sign-ins.ts'
import { signInWords as w } from '../../words/en/sign-ins.ts'
import type { Series } from './chart/series.ts'
import { TimeChart } from './chart/TimeChart.tsx'
import { short } from './numbers.ts'
import { QueryState } from './States.tsx'
import { Card } from './Surface.tsx'

export function SignInChart({ organization }: { readonly organization: string }) {
  const found = useQuery(signInsQuery(organization))
  if (found.data === undefined)
    return (
      <Card title={w.title}>
        <QueryState query={found} />
      </Card>
    )
  const { points, step_ms: stepMs } = found.data
  return (
    <Card label={w.title}>
      <TimeChart
        title={w.title}
        at={points.map(({ at }) => at)}
        stepMs={stepMs}
        series={seriesOf(points)}
        format={short}
        height={120}
      />
    </Card>
  )
}

function seriesOf(points: SignIns['points']): readonly Series[] {
  const bars = (id: 'company' | 'other' | 'refused', tone: Series['tone']) =>
    ({ id, label: w[id], tone, kind: 'bar', values: points.map((point) => point[id]) }) as const
  return [bars('company', 'accent'), bars('other', 'flow'), bars('refused', 'refuse')]
}
