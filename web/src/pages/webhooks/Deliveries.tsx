import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { deliveryChoices } from '../../api/choices.ts'
import { webhookWords } from '../../../words/en/webhooks.ts'
import { type Delivery, type DeliveryFilter, type Endpoint } from '../../api/webhook-shapes.ts'
import { deliveriesQuery, endpointsQuery, eventTypesQuery } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { Select } from '../../parts/Field.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { Empty } from '../../parts/States.tsx'
import { PageHead } from '../../parts/Surface.tsx'
import { exact } from '../../parts/Time.tsx'
import { deliveryColumns } from './delivery-columns.tsx'
import { DeliveryDrawer } from './DeliveryDrawer.tsx'
import { ReplayDialog } from './ReplayDialog.tsx'
import { Sections } from './Sections.tsx'
import { endpointName } from './states.tsx'
import { since, sinceLengths } from './since.ts'

const here = getRouteApi('/frame/o/$organization/webhooks/deliveries')
const w = webhookWords.deliveries

export function Deliveries() {
  const { slug, may } = useOrganization()
  const { delivery, ...filter } = here.useSearch()
  const navigate = here.useNavigate()
  const [replaying, setReplaying] = useState(false)
  const endpoints = useQuery(endpointsQuery(slug)).data?.items
  const list = useInfiniteQuery(deliveriesQuery(slug, filter))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const change = (patch: Patch) =>
    void navigate({ search: (before) => ({ ...before, ...patch }), replace: true })
  const open = (one: Delivery | undefined) => change({ delivery: one?.id })

  return (
    <>
      <PageHead title={webhookWords.title} lead={webhookWords.lead}>
        {may('deliveries.replay') ? (
          <Button onClick={() => setReplaying(true)}>{w.replay}</Button>
        ) : undefined}
      </PageHead>
      <Sections />
      <DeliveryFilters filter={filter} endpoints={endpoints ?? []} onChange={change} />
      <DataTable
        label={w.title}
        columns={deliveryColumns(endpoints, true)}
        rows={rows}
        rowId={(one) => one.id}
        list={list}
        onOpen={open}
        chosen={delivery}
        filtered={{
          what: w.what,
          count: Object.values(filter).filter((value) => value !== undefined).length,
          clear: () => void navigate({ search: {}, replace: true }),
        }}
        empty={<NothingSent organization={slug} />}
      />
      <DeliveryDrawer id={delivery} endpoints={endpoints} onClose={() => open(undefined)} />
      {replaying ? <ReplayDialog start={filter} onClose={() => setReplaying(false)} /> : undefined}
    </>
  )
}

type Patch = Readonly<Record<string, string | undefined>>

function DeliveryFilters({
  filter,
  endpoints,
  onChange,
}: {
  readonly filter: DeliveryFilter
  readonly endpoints: readonly Endpoint[]
  readonly onChange: (patch: Patch) => void
}) {
  const { slug } = useOrganization()
  const types = useQuery(eventTypesQuery(slug)).data?.items ?? []
  const { filters: label } = w
  return (
    <FilterBar
      filters={[
        {
          ...{ id: 'endpoint', label: label.endpoint, value: filter.endpoint },
          options: endpoints.map((one) => ({ value: one.id, label: endpointName(one) })),
        },
        { ...{ id: 'state', label: label.state, value: filter.state }, options: states },
        {
          ...{ id: 'type', label: label.type, value: filter.type },
          options: types.map(({ type }) => ({ value: type, label: type })),
        },
        { id: 'event', label: label.event, value: filter.event },
        { id: 'from', label: label.from, value: filter.from, shown: shownTime(filter.from) },
        { id: 'to', label: label.to, value: filter.to, shown: shownTime(filter.to) },
      ]}
      onChange={onChange}
    >
      <Select
        auto
        aria-label={w.since}
        value=""
        options={[
          { value: '', label: w.since },
          ...sinceLengths.map((length) => ({ value: length, label: w.sinceChoices[length] })),
        ]}
        onValue={(value) => onChange({ from: since(value), to: undefined })}
      />
    </FilterBar>
  )
}

const states = deliveryChoices.map((state) => ({
  value: state,
  label: webhookWords.deliveryStates[state],
}))

function NothingSent({ organization }: { readonly organization: string }) {
  return (
    <Empty title={w.emptyTitle}>
      <p>{w.emptyText}</p>
      <Link to="/o/$organization/webhooks" params={{ organization }} className={buttonClass()}>
        {w.toEndpoints}
      </Link>
    </Empty>
  )
}

function shownTime(text: string | undefined): string {
  const ms = Date.parse(text ?? '')
  return text === undefined || Number.isNaN(ms) ? (text ?? '') : exact(ms)
}
