import { useQuery } from '@tanstack/react-query'
import { rateSharesQuery } from '../api/targets.ts'
import { targetsWords } from '../../words/en/targets.ts'
import { count, percent } from './numbers.ts'

const w = targetsWords.limits

export function RateShares({
  organization,
  subjectId,
}: {
  readonly organization: string
  readonly subjectId: string
}) {
  const shares = useQuery(rateSharesQuery(organization, subjectId))
  const items = shares.data?.items ?? []
  if (items.length === 0) return undefined
  return (
    <section aria-label={w.shares}>
      <h3>{w.shares}</h3>
      <ul>
        {items.map((item) => (
          <li key={item.node_id}>
            <code>{item.node_id}</code>{' '}
            {w.share(percent(item.share, 1), count(Math.round(item.demand)))}
            {item.is_short ? ` (${w.tooSmall})` : ''}
          </li>
        ))}
      </ul>
    </section>
  )
}
