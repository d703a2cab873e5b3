import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { guides } from '../../../words/en/sso-guides.ts'
import { connectionKinds } from '../../api/choices.ts'
import { connectionsQuery, reservationQuery, type ConnectionKind } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { Segmented } from '../../parts/Field.tsx'
import { SignInChart } from '../../parts/SignInChart.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Card, Columns, Pile } from '../../parts/Surface.tsx'
import { Addresses } from './Addresses.tsx'
import { ConnectForm } from './ConnectForm.tsx'
import { ConnectionCard } from './ConnectionCard.tsx'
import { ConnectionGuide } from './guide.tsx'
import { PolicyCard } from './PolicyCard.tsx'

const w = ssoWords.connection

export function ConnectionTab() {
  const { slug } = useOrganization()
  const [adding, setAdding] = useState(false)
  const connections = useQuery(connectionsQuery(slug))
  if (connections.data === undefined) {
    return <QueryState query={connections} />
  }
  const { items } = connections.data
  return (
    <Pile>
      {items.map((connection) => (
        <ConnectionCard key={connection.id} connection={connection} />
      ))}
      {items.length === 0 || adding ? <NewConnection onDone={() => setAdding(false)} /> : undefined}
      {items.length === 0 ? undefined : <PolicyCard connections={items} />}
      {items.length === 0 ? undefined : <SignInChart organization={slug} />}
      {items.length === 0 || adding ? undefined : (
        <div>
          <Button icon="plus" onClick={() => setAdding(true)}>
            {w.addAnother}
          </Button>
        </div>
      )}
    </Pile>
  )
}

function NewConnection({ onDone }: { readonly onDone: () => void }) {
  const { slug } = useOrganization()
  const [kind, setKind] = useState<ConnectionKind>('okta')
  const reserved = useQuery(reservationQuery(slug))
  return (
    <Pile>
      <Card title={w.emptyTitle} lead={w.emptyLead}>
        <Segmented
          label={w.emptyLead}
          value={kind}
          options={connectionKinds.map((value) => ({ value, label: w.kinds[value] }))}
          onValue={setKind}
        />
      </Card>
      <Columns>
        <Card title={w.stepsAt(guides[kind].name)}>
          <div className="stack">
            <ConnectionGuide kind={kind} />
            {reserved.data !== undefined ? (
              <section className="stack-tight">
                <h3>{w.addresses}</h3>
                <Addresses of={reserved.data} withKeys={false} />
              </section>
            ) : (
              <QueryState query={reserved} />
            )}
          </div>
        </Card>
        <Card title={w.here}>
          <ConnectForm
            key={kind}
            kind={kind}
            reservation={reserved.data?.reservation}
            onDone={onDone}
          />
        </Card>
      </Columns>
    </Pile>
  )
}
