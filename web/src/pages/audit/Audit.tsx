import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { auditQuery, type AuditFilter } from '../../api/audit.ts'
import type { AuditEntry } from '../../api/shapes.ts'
import { download } from '../../api/call.ts'
import { auditWords as w } from '../../../words/en/audit.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { Menu, MenuItem } from '../../parts/Menu.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { inRow, Time } from '../../parts/Time.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { zoneShort } from '../../parts/zone.ts'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { actorName } from './actor.ts'
import { AuditTime } from './AuditTime.tsx'
import { Chain } from './Chain.tsx'
import { EntryDrawer } from './EntryDrawer.tsx'
import { sentenceOf } from './sentence.ts'
import { useAuditFilters, type AuditSearch } from './useAuditFilters.tsx'

const here = getRouteApi('/frame/o/$organization/audit')

export function Audit() {
  const { slug } = useOrganization()
  const { entry: open, ...search } = here.useSearch()
  const navigate = here.useNavigate()
  const filter = filterOf(search)
  const list = useInfiniteQuery(auditQuery(slug, filter))
  const filters = useAuditFilters(search)
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const chosen = rows.find((row) => row.id === open)
  const change = (patch: Readonly<Record<string, string | undefined>>, replace = 'q' in patch) =>
    void navigate({ search: (past) => ({ ...past, ...patch }), replace, resetScroll: false })

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <Chain organization={slug} />
        <ExportAudit organization={slug} filter={filter} onDone={() => void list.refetch()} />
      </PageHead>
      <FilterBar
        search={{ id: 'q', label: w.search, value: search.q }}
        filters={filters}
        onChange={change}
      >
        <AuditTime search={search} onRange={({ from, to }) => change({ from, to })} />
      </FilterBar>
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

function filterOf({ q, actor, action, subject, from, to }: AuditSearch): AuditFilter {
  return { search: q, actor_id: actor, action, subject_id: subject, from, until: to }
}

function ExportAudit({
  organization,
  filter,
  onDone,
}: {
  readonly organization: string
  readonly filter: AuditFilter
  readonly onDone: () => void
}) {
  const save = useMutation({
    mutationFn: (format: 'ndjson' | 'csv') =>
      download(
        'POST /organizations/:organization/audit/export',
        { path: { organization }, body: { format, ...filter } },
        `audit-${organization}.${format}`,
      ),
    onError: sayRefused,
    onSuccess: () => {
      say(w.exported, { text: w.exportedText })
      onDone()
    },
  })
  return (
    <Menu trigger={<Button busy={save.isPending}>{w.export}</Button>}>
      <MenuItem onClick={() => save.mutate('ndjson')}>{w.exportNdjson}</MenuItem>
      <MenuItem onClick={() => save.mutate('csv')}>{w.exportCsv}</MenuItem>
    </Menu>
  )
}

const columns: readonly Column<AuditEntry>[] = [
  {
    id: 'time',
    get head() {
      return `${w.columns.time} (${zoneShort()})`
    },
    width: '138px',
    brief: (entry) => inRow(entry.at),
    cell: (entry) => <Time at={entry.at} form="row" />,
  },
  {
    id: 'actor',
    head: w.columns.actor,
    width: '22%',
    hide: 'phone',
    cell: (entry) => actorName(entry),
  },
  {
    id: 'sentence',
    head: w.columns.action,
    cell: (entry) => (
      <>
        <span title={sentenceOf(entry)}>{sentenceOf(entry)}</span>
        <span className={onPhone}>{actorName(entry)}</span>
      </>
    ),
  },
  {
    id: 'action',
    head: w.columns.kind,
    width: '250px',
    hide: 'medium',
    cell: (entry) => <code className="muted">{entry.action}</code>,
  },
  {
    id: 'address',
    head: w.columns.address,
    width: '130px',
    hide: 'narrow',
    cell: (entry) => <code>{entry.address}</code>,
  },
]
