import { useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { guides } from '../../../words/en/sso-guides.ts'
import type { Connection } from '../../api/sso.ts'
import { ManagedNotice, ManagedTag, useManaged } from '../../frame/Managed.tsx'
import { Folded } from '../../parts/Folded.tsx'
import { Badge, Card, Facts, Notice, Tag } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { Addresses } from './Addresses.tsx'
import { ConnectionActions } from './ConnectionActions.tsx'
import { EditConnection } from './EditConnection.tsx'
import { ConnectionGuide } from './guide.tsx'
import { TestCard } from './TestCard.tsx'

const w = ssoWords.connection

export function ConnectionCard({ connection }: { readonly connection: Connection }) {
  const managed = useManaged('connections', connection.id)
  const [editing, setEditing] = useState(false)
  return (
    <>
      <Card
        title={
          <>
            {connection.name}
            <StateBadge connection={connection} />
            {connection.is_default ? <Tag>{w.badges.default}</Tag> : undefined}
            <ManagedTag by={managed} />
          </>
        }
        actions={
          <ConnectionActions
            connection={connection}
            locked={managed !== undefined}
            onEdit={() => setEditing(true)}
          />
        }
      >
        <div className="stack">
          <ManagedNotice by={managed} />
          <LastRefusal connection={connection} />
          <ConnectionFacts connection={connection} />
          <Folded title={`${w.addresses}: ${w.kinds[connection.kind]}`} open={isNew(connection)}>
            <p className="muted">{w.addressesLead}</p>
            <Addresses of={connection} withKeys={connection.credential === 'key'} />
            <h3>{w.stepsAt(guides[connection.kind].name)}</h3>
            <ConnectionGuide kind={connection.kind} />
          </Folded>
        </div>
        {editing ? (
          <EditConnection connection={connection} onClose={() => setEditing(false)} />
        ) : undefined}
      </Card>
      <TestCard connection={connection} />
    </>
  )
}

function LastRefusal({ connection }: { readonly connection: Connection }) {
  const { last_refusal: refusal } = connection
  if (refusal === undefined) return undefined
  return (
    <Notice tone="refuse" title={refusal.by_test ? w.lastTestFailed : w.lastRefusal}>
      <p>{refusal.sentence}</p>
      <p className="muted">
        <a href={`/problems/${refusal.code}`} target="_blank" rel="noreferrer">
          <code>{refusal.code}</code>
        </a>{' '}
        <Time at={refusal.at} form="relative" />
      </p>
    </Notice>
  )
}

function ConnectionFacts({ connection }: { readonly connection: Connection }) {
  return (
    <Facts
      facts={[
        [w.facts.issuer, <code key="issuer">{connection.issuer}</code>],
        [w.facts.clientId, <code key="client">{connection.client_id}</code>],
        [w.facts.credential, w.credentials[connection.credential]],
        [w.scopesName, <code key="scopes">{connection.scopes.join(' ')}</code>],
        [w.facts.tested, <Time key="tested" at={connection.tested_at} form="relative" />],
        [w.facts.used, <Time key="used" at={connection.last_used_at} form="relative" />],
        [w.facts.owners, connection.owners_confirm ? w.ownersConfirm : undefined],
      ]}
    />
  )
}

/** Guesses whether a connection's URLs still have to be registered at the provider. */
function isNew({
  tested_at: testedAt,
  last_refusal: lastRefusal,
  disabled_at: disabledAt,
}: Connection): boolean {
  return testedAt === undefined && lastRefusal === undefined && disabledAt === undefined
}

function StateBadge({ connection }: { readonly connection: Connection }) {
  if (connection.disabled_at !== undefined) return <Badge>{w.badges.disabled}</Badge>
  const refusal = connection.last_refusal
  if (refusal !== undefined) {
    return <Badge tone="refuse">{refusal.by_test ? w.badges.failed : w.badges.broken}</Badge>
  }
  if (connection.tested_at === undefined && connection.last_used_at === undefined)
    return <Badge tone="caution">{w.badges.untested}</Badge>
  return <Badge tone="pass">{w.badges.works}</Badge>
}
