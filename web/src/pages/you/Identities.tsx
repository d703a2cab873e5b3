import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Me } from '../../api/me.ts'
import { words } from '../../../words/en.ts'
import { membersWords } from '../../../words/en/members.ts'
import { usePerson } from '../../frame/membership.ts'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { Card, Item, Items } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { AddIdentity } from './AddIdentity.tsx'
import { providerName } from './provider-name.ts'

const w = membersWords.you

const here = getRouteApi('/frame/you')

export function Identities() {
  const me = usePerson()
  const { link } = here.useSearch()
  // A session started through an organization's provider may not change the person's own ways to sign in.
  const isOwn = me.session.provider !== 'sso'
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
      actions={isOwn && me.session.fresh ? <Additions providers={me.providers} /> : undefined}
    >
      {isOwn && !me.session.fresh && me.providers.length > 0 ? <TooOld /> : undefined}
      {me.identities.length === 0 ? (
        <p className="pad muted">{w.noIdentities}</p>
      ) : (
        <Items>
          {me.identities.map((identity) => (
            <IdentityItem
              key={identity.id}
              identity={identity}
              onRemove={isOwn ? () => setRemoving(identity.id) : undefined}
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
      {link === undefined ? undefined : <AddIdentity proof={link} />}
    </Card>
  )
}

/** After signing in at a provider, the person returns to this page with a proof and confirms the account. */
function Additions({ providers }: { readonly providers: Me['providers'] }) {
  return providers.map((provider) => (
    <a
      key={provider}
      className={buttonClass('plain', { small: true })}
      href={`/api/v1/auth/${provider}/login?link=1&return_to=/you`}
    >
      {w.add(providerName(provider))}
    </a>
  ))
}

/** Says that adding an account needs a fresh sign-in, so that nobody is sent to a provider in vain. */
function TooOld() {
  return (
    <div className="pad row">
      <span className="muted">{words.problems['sign_in_too_old']?.todo}</span>
      <a className={buttonClass('plain', { small: true })} href="/sign-in?return_to=/you">
        {w.signInAgain}
      </a>
    </div>
  )
}

function IdentityItem({
  identity,
  onRemove,
}: {
  readonly identity: Me['identities'][number]
  /** Undefined if this session may not remove the identity. */
  readonly onRemove: (() => void) | undefined
}) {
  return (
    <Item
      action={
        onRemove === undefined ? undefined : (
          <Button
            small
            aria-label={`${w.removeIdentity} ${providerName(identity.provider)}`}
            onClick={onRemove}
          >
            {w.removeIdentity}
          </Button>
        )
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
