import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { directoryWords } from '../../../words/en/directory.ts'
import { directoryRequestsQuery, type DirectoryRequest } from '../../api/directory.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Lamp } from '../../parts/Button.tsx'
import { cx } from '../../parts/cx.ts'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { Segmented } from '../../parts/Field.tsx'
import { duration } from '../../parts/numbers.ts'
import { Empty } from '../../parts/States.tsx'
import { Badge, Card } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { zoneShort } from '../../parts/zone.ts'
import { RequestDrawer } from './RequestDrawer.tsx'
import classes from './sso.module.css'

const w = directoryWords.requests
const firstError = 400
const shown = ['all', 'refused'] as const

export function DirectoryRequests({ user }: { readonly user?: string }) {
  const { slug } = useOrganization()
  const [choice, setChoice] = useState<(typeof shown)[number]>('all')
  const [open, setOpen] = useState<string>()
  const filter = { failed: choice === 'refused' ? true : undefined, resource_id: user }
  const list = useInfiniteQuery(directoryRequestsQuery(slug, filter))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const chosen = rows.find((row) => row.id === open)
  return (
    <Card title={user === undefined ? w.title : w.ofPerson} lead={w.lead} flush>
      <div className={classes.choice}>
        <Segmented
          label={w.show}
          value={choice}
          options={shown.map((value) => ({ value, label: w.shown[value] }))}
          onValue={setChoice}
        />
      </div>
      <DataTable
        bare
        label={w.title}
        columns={columns}
        rows={rows}
        rowId={(request) => request.id}
        list={list}
        chosen={open}
        onOpen={(request) => setOpen(request.id)}
        empty={<Nothing choice={choice} isPerson={user !== undefined} />}
      />
      {chosen === undefined ? undefined : (
        <RequestDrawer request={chosen} onClose={() => setOpen(undefined)} />
      )}
    </Card>
  )
}

function Nothing({
  choice,
  isPerson,
}: {
  readonly choice: (typeof shown)[number]
  readonly isPerson: boolean
}) {
  if (choice === 'refused') return <Empty title={w.noneRefused} />
  if (isPerson) return <Empty title={w.nonePerson} />
  return (
    <Empty title={w.emptyTitle}>
      <p className="row">
        <Lamp /> {w.emptyText}
      </p>
    </Empty>
  )
}

const columns: readonly Column<DirectoryRequest>[] = [
  {
    id: 'time',
    get head() {
      return `${w.columns.time} (${zoneShort()})`
    },
    width: '136px',
    hide: 'phone',
    cell: (request) => <Time at={request.at} form="row" />,
  },
  {
    id: 'request',
    head: w.columns.request,
    wraps: true,
    cell: (request) => (
      <>
        <code title={`${request.method} ${request.path}`}>
          {request.method} {request.path}
        </code>
        {request.detail === undefined ? undefined : (
          <span className={cx('muted', classes.reason)}>{request.detail}</span>
        )}
        {request.ignored.length === 0 ? undefined : (
          <span className={cx('muted', classes.reason)}>{w.passedOver(request.ignored)}</span>
        )}
        <span className={onPhone}>
          <Time at={request.at} form="row" />
        </span>
      </>
    ),
  },
  {
    id: 'status',
    head: w.columns.status,
    width: '84px',
    cell: (request) => (
      <Badge tone={request.status < firstError ? 'pass' : 'refuse'}>{request.status}</Badge>
    ),
  },
  {
    id: 'took',
    head: w.columns.took,
    width: '80px',
    end: true,
    hide: 'narrow',
    cell: (request) => duration(request.duration_ms),
  },
  {
    id: 'agent',
    head: w.columns.agent,
    width: '180px',
    hide: 'medium',
    cell: (request) => <span className="muted">{request.agent}</span>,
  },
]
