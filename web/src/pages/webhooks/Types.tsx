import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { typeWords as w, webhookWords } from '../../../words/en/webhooks.ts'
import type { EventType } from '../../api/webhook-shapes.ts'
import { endpointsQuery, eventTypesQuery, sendSample } from '../../api/webhooks.ts'
import { useOrganization } from '../../frame/membership.ts'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { SelectField } from '../../parts/Field.tsx'
import { Button } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { Empty, QueryState } from '../../parts/States.tsx'
import { Card, PageHead, Pile } from '../../parts/Surface.tsx'
import { say } from '../../parts/Toasts.tsx'
import { Sections } from './Sections.tsx'
import { endpointName } from './states.tsx'
import classes from './webhooks.module.css'

const here = getRouteApi('/frame/o/$organization/webhooks/types')

export function Types() {
  const { slug } = useOrganization()
  const types = useQuery(eventTypesQuery(slug))
  return (
    <>
      <PageHead title={webhookWords.title} lead={webhookWords.lead} />
      <Sections />
      {types.data !== undefined ? (
        <Catalogue types={types.data.items} />
      ) : (
        <QueryState query={types} />
      )}
    </>
  )
}

function Catalogue({ types }: { readonly types: readonly EventType[] }) {
  const { slug } = useOrganization()
  const { type } = here.useSearch()
  const chosen = types.find((one) => one.type === type) ?? types[0]
  const nouns = Map.groupBy(types, (one) => one.type.split('.')[0] ?? '')
  if (chosen === undefined) return <Empty title={w.none} />
  return (
    <div className={classes.catalogue}>
      <nav aria-label={w.list}>
        {[...nouns].map(([noun, some]) => (
          <div key={noun}>
            <h2>{noun}</h2>
            <ul>
              {some.map((one) => (
                <li key={one.type}>
                  <Link
                    to="/o/$organization/webhooks/types"
                    params={{ organization: slug }}
                    search={{ type: one.type }}
                    replace
                    resetScroll={false}
                    aria-current={one === chosen ? 'true' : undefined}
                  >
                    {one.type}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <TypeDetail key={chosen.type} type={chosen} />
    </div>
  )
}

function TypeDetail({ type }: { readonly type: EventType }) {
  const { may } = useOrganization()
  const [sending, setSending] = useState(false)
  return (
    <Pile>
      <Card
        title={<code>{type.type}</code>}
        lead={type.description}
        actions={
          may('webhooks.manage') ? (
            <Button small onClick={() => setSending(true)}>
              {w.send}
            </Button>
          ) : undefined
        }
      >
        <div className="stack">
          <section className="stack-tight">
            <h3>{w.sample}</h3>
            <Snippet text={JSON.stringify(type.sample, undefined, 2)} label={w.sample} />
          </section>
          <section className="stack-tight">
            <h3>{w.schema}</h3>
            <p className="muted">{w.schemaLead}</p>
            <Snippet text={JSON.stringify(type.schema, undefined, 2)} label={w.schema} />
          </section>
        </div>
      </Card>
      {sending ? <SendSample type={type.type} onClose={() => setSending(false)} /> : undefined}
    </Pile>
  )
}

function SendSample({ type, onClose }: { readonly type: string; readonly onClose: () => void }) {
  const { slug } = useOrganization()
  const endpoints = useQuery(endpointsQuery(slug))
  const able = (endpoints.data?.items ?? []).filter((one) => one.state !== 'disabled')
  const [chosen, setChosen] = useState<string>()
  const endpoint = chosen ?? able[0]?.id
  const sending = useMutation({
    mutationFn: () => sendSample(slug, endpoint ?? '', type),
    onSuccess: () => {
      const isHeld = able.find((one) => one.id === endpoint)?.state === 'held'
      say(isHeld ? w.sampleWaits : w.sent, { text: w.sentText })
      onClose()
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title={w.sendTitle}
      lead={w.sendLead}
      action={w.sendAction}
      saving={sending}
      disabled={endpoint === undefined}
      onSubmit={() => sending.mutate()}
    >
      {endpoints.data === undefined ? (
        <QueryState query={endpoints} />
      ) : able.length === 0 ? (
        <p>{w.noEndpoint}</p>
      ) : (
        <SelectField
          label={w.sendTo}
          value={endpoint}
          options={able.map((one) => ({ value: one.id, label: endpointName(one) }))}
          onValue={setChosen}
        />
      )}
    </FormDialog>
  )
}
