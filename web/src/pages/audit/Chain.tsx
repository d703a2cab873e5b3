import { useQuery } from '@tanstack/react-query'
import { chainQuery } from '../../api/audit.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { count } from '../../parts/numbers.ts'
import { Badge, Notice } from '../../parts/Surface.tsx'
import { relative } from '../../parts/Time.tsx'

export function Chain({ organization }: { readonly organization: string }) {
  const chain = useQuery(chainQuery(organization))
  if (chain.isError) return undefined
  if (chain.data === undefined) return <span className="muted">{w.checking}</span>
  const { intact, entries, broken_at: brokenAt, reason, checked_at: checkedAt } = chain.data
  if (intact) {
    return (
      <span title={relative(checkedAt)}>
        <Badge tone="pass">{w.intact(count(entries))}</Badge>
      </span>
    )
  }
  return (
    <div role="alert">
      <Notice tone="refuse" title={w.broken(brokenAt ?? 0)}>
        <p>{w.brokenText}</p>
        <p className="muted">{reason}</p>
      </Notice>
    </div>
  )
}
