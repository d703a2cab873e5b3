import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { webhookWords as w } from '../../../words/en/webhooks.ts'
import type { Endpoint } from '../../api/webhook-shapes.ts'
import { useManagedAmong, type Managed } from '../../api/managed.ts'
import { addEndpoint, endpointsQuery } from '../../api/webhooks.ts'
import { ManagedTag } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { DataTable, rowName, type Column } from '../../parts/DataTable.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { EndpointForm } from './EndpointForm.tsx'
import { Sections } from './Sections.tsx'
import { BooksBar, EndpointBadge } from './states.tsx'
import classes from './webhooks.module.css'

const here = getRouteApi('/frame/o/$organization/webhooks')

export function Endpoints() {
  const { slug, may } = useOrganization()
  const { add } = here.useSearch()
  const navigate = here.useNavigate()
  const client = useQueryClient()
  const list = useQuery(endpointsQuery(slug))
  const rows = list.data?.items ?? []
  const managed = useManagedAmong(
    slug,
    'endpoints',
    rows.map(({ id }) => id),
  )
  const addButton = may('webhooks.manage') ? (
    <Button
      look="primary"
      icon="plus"
      onClick={() => void navigate({ search: { add: 'now' }, replace: true })}
    >
      {w.add}
    </Button>
  ) : undefined

  function open(endpoint: Pick<Endpoint, 'id'>) {
    void navigate({
      to: '/o/$organization/webhooks/$endpoint',
      params: { organization: slug, endpoint: endpoint.id },
    })
  }

  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        {addButton}
      </PageHead>
      <Sections />
      <DataTable
        label={w.sections.endpoints}
        columns={[addressColumn(slug, managed), ...factColumns]}
        rows={rows}
        rowId={(endpoint) => endpoint.id}
        list={list}
        onOpen={open}
        empty={<NoEndpoints>{addButton}</NoEndpoints>}
      />
      {add === undefined ? undefined : (
        <EndpointForm
          organization={slug}
          onClose={() => void navigate({ search: {}, replace: true })}
          send={(input) => addEndpoint(slug, { ...input, url: input.url ?? '' })}
          onSent={(endpoint) => {
            say(w.added, { text: w.addedText })
            void client.invalidateQueries({ queryKey: [slug, 'webhooks'] })
            open(endpoint)
          }}
        />
      )}
    </>
  )
}

function NoEndpoints({ children }: { readonly children: ReactNode }) {
  return (
    <Empty title={w.endpoints.emptyTitle}>
      <p>{w.endpoints.emptyText}</p>
      <Snippet text={w.endpoints.receive} label={w.endpoints.receiveName} />
      {children}
    </Empty>
  )
}

function addressColumn(
  organization: string,
  managed: ReadonlyMap<string, Managed>,
): Column<Endpoint> {
  return {
    id: 'url',
    head: w.endpoints.columns.url,
    cell: (endpoint) => (
      <>
        <Link
          to="/o/$organization/webhooks/$endpoint"
          params={{ organization, endpoint: endpoint.id }}
          className={rowName}
          tabIndex={-1}
        >
          {endpoint.description === '' ? endpoint.url : endpoint.description}
        </Link>{' '}
        {endpoint.description === '' ? undefined : <span className="muted">{endpoint.url}</span>}{' '}
        <ManagedTag by={managed.get(endpoint.id)} />
      </>
    ),
  }
}

const factColumns: readonly Column<Endpoint>[] = [
  {
    id: 'state',
    head: w.endpoints.columns.state,
    width: '118px',
    cell: (endpoint) => <EndpointBadge state={endpoint.state} />,
  },
  {
    id: 'deliveries',
    head: w.endpoints.columns.deliveries,
    width: '30%',
    hide: 'narrow',
    cell: ({ deliveries }) => (
      <span className={classes.bookCell}>
        {deliveries.committed === 0 ? (
          w.nothingSent
        ) : (
          <>
            <BooksBar books={deliveries} />
            <span className={classes.wide}>
              {w.books(
                deliveries.delivered,
                deliveries.pending + deliveries.held,
                deliveries.dead + deliveries.skipped,
              )}
            </span>
          </>
        )}
      </span>
    ),
  },
  {
    id: 'types',
    head: w.endpoints.columns.types,
    width: '104px',
    hide: 'medium',
    cell: ({ types }) => (
      <span className="muted">{types === undefined ? w.allTypes : w.types(types.length)}</span>
    ),
  },
  {
    id: 'success',
    head: w.endpoints.columns.success,
    width: '132px',
    hide: 'medium',
    cell: (endpoint) => <Time at={endpoint.last_success_at} form="relative" />,
  },
]
