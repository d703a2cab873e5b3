import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../api/members.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { useOrganization } from '../../frame/membership.ts'
import { useNames } from '../../frame/useNames.ts'
import type { Filter } from '../../parts/Filters.tsx'
import { exact } from '../../parts/Time.tsx'

export interface AuditSearch {
  readonly q?: string | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly subject?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export function useAuditFilters({
  actor,
  action,
  subject,
  from,
  to,
}: AuditSearch): readonly Filter[] {
  const { slug, may } = useOrganization()
  const names = useNames()
  const members = useQuery({ ...membersQuery(slug), enabled: may('members.manage') })
  const people = (members.data?.items ?? []).map(({ user_id: value, name: label }) => ({
    value,
    label,
  }))
  const actions = Object.keys(w.sentences).sort()
  return [
    {
      ...{ id: 'action', label: w.filters.action, value: action },
      options: actions.map((value) => ({ value, label: value })),
    },
    {
      ...{ id: 'actor', label: w.filters.actor, value: actor, shown: names(actor) ?? actor },
      ...(people.length === 0 ? {} : { options: people }),
    },
    { id: 'subject', label: w.filters.subject, value: subject },
    { id: 'from', label: w.filters.from, value: from, shown: shownTime(from) },
    { id: 'to', label: w.filters.to, value: to, shown: shownTime(to) },
  ]
}

function shownTime(text: string | undefined): string | undefined {
  return text === undefined || Number.isNaN(Date.parse(text)) ? text : exact(text)
}
