import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { auditQuery } from '../../api/audit.ts'
import type { AuditEntry } from '../../api/shapes.ts'
import { download } from '../../api/call.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { useOrganization } from '../../frame/membership.ts'
import { useNames } from '../../frame/useNames.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, type Column } from '../../parts/DataTable.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { Menu, MenuItem } from '../../parts/Menu.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { exact, Time } from '../../parts/Time.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { actorName } from './actor.ts'
import { Chain } from './Chain.tsx'
import { EntryDrawer } from './EntryDrawer.tsx'

const here = getRouteApi('/frame/o/$organization/audit')

/** What was changed, and whether the log is whole. */
export function Audit() {
  const { slug } = useOrganization()
  const { actor, action, subject, from, to, entry: open } = here.useSearch()
  const navigate = here.useNavigate()
  const names = useNames()
  const filter = { actor_id: actor, action, subject_id: subject, from, until: to }
  const list = useInfiniteQuery(auditQuery(slug, filter))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const chosen = rows.find((row) => row.id === open)
  const save = useMutation({
    mutationFn: (format: 'ndjson' | 'csv') =>
      download(
        'POST /organizations/:organization/audit/export',
        { path: { organization: slug }, body: { format, ...filter } },
        `audit-${slug}.${format}`,
      ),
    onError: sayRefused,
    onSuccess: () => {
      say(w.exported, { text: w.exportedText })
      void list.refetch()
    },
  })
  const change = (patch: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      search: (before) => ({ ...before, ...patch }),
      replace: true,
      resetScroll: false,
    })
  const actions = [
    ...new Set([...rows.map((row) => row.action), ...(action === undefined ? [] : [action])]),
  ].sort()

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <Chain organization={slug} />
        <Menu trigger={<Button busy={save.isPending}>{w.export}</Button>}>
          <MenuItem onClick={() => save.mutate('ndjson')}>{w.exportNdjson}</MenuItem>
          <MenuItem onClick={() => save.mutate('csv')}>{w.exportCsv}</MenuItem>
        </Menu>
      </PageHead>
      <FilterBar
        filters={[
          {
            id: 'action',
            label: w.filters.action,
            value: action,
            options: actions.map((value) => ({ value, label: value })),
          },
          { id: 'actor', label: w.filters.actor, value: actor, shown: names(actor) ?? actor ?? '' },
          { id: 'subject', label: w.filters.subject, value: subject },
          {
            id: 'from',
            label: w.filters.from,
            value: from,
            shown: from === undefined ? '' : exact(from),
          },
          { id: 'to', label: w.filters.to, value: to, shown: to === undefined ? '' : exact(to) },
        ]}
        onChange={change}
      />
      <DataTable
        label={w.title}
        columns={columns}
        rows={rows}
        rowId={(entry) => entry.id}
        list={list}
        body={VirtualBody}
        chosen={open}
        onOpen={(entry) => change({ entry: entry.id })}
        filtered={{
          what: w.what,
          count: Object.values(filter).filter(Boolean).length,
          clear: () => void navigate({ search: {} }),
        }}
        empty={
          <Empty title={w.emptyTitle}>
            <p>{w.emptyText}</p>
          </Empty>
        }
      />
      {chosen === undefined ? undefined : (
        <EntryDrawer
          organization={slug}
          entry={chosen}
          onClose={() => change({ entry: undefined })}
        />
      )}
    </>
  )
}

const columns: readonly Column<AuditEntry>[] = [
  {
    id: 'time',
    head: w.columns.time,
    width: '138px',
    cell: (entry) => <Time at={entry.at} form="short" />,
  },
  {
    id: 'actor',
    head: w.columns.actor,
    width: '22%',
    hide: 'phone',
    cell: (entry) => actorName(entry),
  },
  { id: 'action', head: w.columns.action, cell: (entry) => <code>{entry.action}</code> },
  {
    id: 'subject',
    head: w.columns.subject,
    hide: 'medium',
    cell: (entry) => <code className="muted">{entry.subject.id}</code>,
  },
  {
    id: 'address',
    head: w.columns.address,
    width: '130px',
    hide: 'narrow',
    cell: (entry) => <code>{entry.address}</code>,
  },
]
