import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { deliveryStates } from '../../api/choices.ts'
import { webhookWords } from '../../../words/en/webhooks.ts'
import { type Delivery, type DeliveryCounts, type Endpoint } from '../../api/webhook-shapes.ts'
import { changeEndpoint, deliveriesQuery, endpointQuery } from '../../api/webhooks.ts'
import { ManagedNotice, ManagedTag, useManaged } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { CopyText } from '../../parts/Copy.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { count } from '../../parts/numbers.ts'
import { Empty, Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card, Facts, PageHead, Pile } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { deliveryColumns } from './delivery-columns.tsx'
import { DeliveryDrawer } from './DeliveryDrawer.tsx'
import { DeleteEndpoint, EndpointActions, type EndpointDialog } from './EndpointActions.tsx'
import { EndpointFigures } from './EndpointFigures.tsx'
import { EndpointForm } from './EndpointForm.tsx'
import { HealthNotice } from './HealthNotice.tsx'
import { ReplayDialog } from './ReplayDialog.tsx'
import { BooksBar, endpointName } from './states.tsx'
import classes from './webhooks.module.css'

const here = getRouteApi('/frame/o/$organization/webhooks/$endpoint')
const w = webhookWords.endpoint
const latestShown = 10

export function EndpointPage() {
  const { slug } = useOrganization()
  const { endpoint: id } = here.useParams()
  const found = useQuery(endpointQuery(slug, id))
  if (found.data !== undefined) return <Body key={found.data.id} endpoint={found.data} />
  if (found.isError) return <ProblemNotice error={found.error} retry={() => void found.refetch()} />
  return <Loading />
}

function Body({ endpoint }: { readonly endpoint: Endpoint }) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const managed = useManaged('endpoints', endpoint.id)
  const [dialog, setDialog] = useState<EndpointDialog>()
  const refresh = () => void client.invalidateQueries({ queryKey: [slug, 'webhooks'] })

  return (
    <>
      <PageHead
        title={endpointName(endpoint)}
        back={
          <Link to="/o/$organization/webhooks" params={{ organization: slug }}>
            {webhookWords.title}
          </Link>
        }
        lead={
          <span className="row">
            <CopyText text={endpoint.url} what={w.facts.url} />
            <ManagedTag by={managed} />
          </span>
        }
      >
        <EndpointActions
          endpoint={endpoint}
          locked={managed !== undefined}
          onDialog={setDialog}
          onDone={refresh}
        />
      </PageHead>
      <Pile>
        <ManagedNotice by={managed} name={endpointName(endpoint)} />
        <HealthNotice endpoint={endpoint} />
        <Card title={w.books} lead={w.booksLead}>
          <BooksBar books={endpoint.deliveries} />
          <Books endpoint={endpoint.id} books={endpoint.deliveries} />
        </Card>
        <EndpointFigures organization={slug} endpoint={endpoint.id} />
        <Card title={w.latest} flush actions={<AllDeliveries endpoint={endpoint.id} />}>
          <Latest endpoint={endpoint} />
        </Card>
        <Card title={w.settings}>
          <Facts facts={factsOf(endpoint)} />
        </Card>
      </Pile>
      {dialog === undefined ? undefined : (
        <Dialog
          open={dialog}
          endpoint={endpoint}
          onClose={() => setDialog(undefined)}
          onDone={refresh}
        />
      )}
    </>
  )
}

function Dialog({
  open,
  endpoint,
  onClose,
  onDone,
}: {
  readonly open: EndpointDialog
  readonly endpoint: Endpoint
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { slug } = useOrganization()
  // The form keeps the version that it was opened with, so that saving is refused if someone else has changed the
  // endpoint.
  const [base] = useState(endpoint)
  if (open === 'delete') return <DeleteEndpoint {...{ endpoint, onClose, onDone }} />
  if (open === 'replay') return <ReplayDialog start={{ endpoint: endpoint.id }} onClose={onClose} />
  return (
    <EndpointForm
      organization={slug}
      endpoint={base}
      onClose={onClose}
      send={(input) => changeEndpoint(slug, base, input)}
      onSent={() => {
        onClose()
        say(webhookWords.saved)
        onDone()
      }}
    />
  )
}

function Books({ endpoint, books }: { readonly endpoint: string; readonly books: DeliveryCounts }) {
  const { slug } = useOrganization()
  return (
    <ul className={classes.books}>
      {deliveryStates.map((state) => (
        <li key={state}>
          <Link
            to="/o/$organization/webhooks/deliveries"
            params={{ organization: slug }}
            search={{ endpoint, state }}
          >
            <span>{webhookWords.deliveryStates[state]}</span>
            <strong>{count(books[state])}</strong>
            <small>{webhookWords.deliveryStateHints[state]}</small>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function AllDeliveries({ endpoint }: { readonly endpoint: string }) {
  const { slug } = useOrganization()
  return (
    <Link
      to="/o/$organization/webhooks/deliveries"
      params={{ organization: slug }}
      search={{ endpoint }}
    >
      {w.all}
    </Link>
  )
}

function Latest({ endpoint }: { readonly endpoint: Endpoint }) {
  const { slug } = useOrganization()
  const { delivery } = here.useSearch()
  const navigate = here.useNavigate()
  const list = useInfiniteQuery(deliveriesQuery(slug, { endpoint: endpoint.id }, latestShown))
  const rows = (list.data?.pages[0]?.items ?? []).slice(0, latestShown)
  function open(one: Delivery | undefined) {
    void navigate({ search: one === undefined ? {} : { delivery: one.id }, replace: true })
  }
  return (
    <>
      <DataTable
        bare
        label={w.latest}
        columns={deliveryColumns([endpoint], false)}
        rows={rows}
        rowId={(one) => one.id}
        list={{
          isPending: list.isPending,
          isError: list.isError,
          error: list.error,
          refetch: list.refetch,
        }}
        onOpen={open}
        chosen={delivery}
        empty={
          <Empty title={webhookWords.deliveries.emptyTitle}>
            <p>{webhookWords.addedText}</p>
          </Empty>
        }
      />
      <DeliveryDrawer id={delivery} endpoints={[endpoint]} onClose={() => open(undefined)} />
    </>
  )
}

function factsOf(endpoint: Endpoint): Parameters<typeof Facts>[0]['facts'] {
  const {
    types,
    header_names: headerNames,
    rate_per_second: ratePerSecond,
    public_key: publicKey,
  } = endpoint
  return [
    [w.facts.id, <CopyText key="id" text={endpoint.id} what={w.facts.id} />],
    [w.facts.types, types === undefined ? webhookWords.allTypes : <code>{types.join(', ')}</code>],
    [
      w.facts.headers,
      headerNames.length === 0 ? w.noHeaders : <code>{headerNames.join(', ')}</code>,
    ],
    [w.facts.rate, ratePerSecond === undefined ? w.noRate : w.rate(ratePerSecond)],
    [w.facts.order, endpoint.ordered ? w.ordered : w.unordered],
    [
      w.facts.publicKey,
      publicKey === undefined ? undefined : (
        <CopyText key="public" text={publicKey} what={w.facts.publicKey} />
      ),
    ],
    [w.facts.success, <Time key="success" at={endpoint.last_success_at} />],
    [w.facts.attempt, <Time key="attempt" at={endpoint.last_attempt_at} />],
    [w.facts.created, <Time key="created" at={endpoint.created_at} />],
  ]
}
