import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Me } from '../../api/me.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { membersWords } from '../../../words/en/members.ts'
import { usePerson } from '../../frame/membership.ts'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Card, Item, Items } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'

const w = membersWords.you

/** This person's accounts at identity providers. */
export function Identities() {
  const me = usePerson()
  const [removing, setRemoving] = useState<string>()
  const remove = useMutation({
    mutationFn: (identity: string) =>
      call('DELETE /me/identities/:identity', { path: { identity } }),
    onSuccess: () => window.location.assign('/sign-in'),
  })
  return (
    <Card
      flush
      title={w.identities}
      lead={w.identitiesLead}
      actions={me.providers.map((provider) => (
        <a
          key={provider}
          className={buttonClass('plain', { small: true })}
          href={`/api/v1/auth/${provider}/login?return_to=/you`}
        >
          {w.add(providerName(provider))}
        </a>
      ))}
    >
      {me.identities.length === 0 ? (
        <p className="pad muted">{w.noIdentities}</p>
      ) : (
        <Items>
          {me.identities.map((identity) => (
            <IdentityItem
              key={identity.id}
              identity={identity}
              onRemove={() => setRemoving(identity.id)}
            />
          ))}
        </Items>
      )}
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={w.removeIdentityTitle}
        action={w.removeIdentity}
        saving={remove}
        onConfirm={() => remove.mutate(removing ?? '')}
      >
        <p>{w.removeIdentityText}</p>
      </ConfirmDialog>
    </Card>
  )
}

function IdentityItem({
  identity,
  onRemove,
}: {
  readonly identity: Me['identities'][number]
  readonly onRemove: () => void
}) {
  return (
    <Item
      action={
        <Button
          small
          aria-label={`${w.removeIdentity} ${providerName(identity.provider)}`}
          onClick={onRemove}
        >
          {w.removeIdentity}
        </Button>
      }
    >
      <strong>{providerName(identity.provider)}</strong>
      <p className="muted">
        {identity.email ?? identity.subject}, {membersWords.session.seen}{' '}
        <Time at={identity.last_used_at} form="relative" />
      </p>
    </Item>
  )
}

function providerName(provider: string): string {
  return (
    entryWords.signIn.providers[provider] ?? membersWords.session.providers[provider] ?? provider
  )
}
