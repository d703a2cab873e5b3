import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { signInOptionsQuery } from '../../api/entry.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { usePerson } from '../../frame/membership.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { TextField } from '../../parts/Field.tsx'
import { Empty, fieldError } from '../../parts/States.tsx'
import { Card, Item, Items, PageHead, Pile, Tag } from '../../parts/Surface.tsx'
import { say, sayRefused } from '../../parts/Toasts.tsx'
import { slugOf } from './slug.ts'

const w = entryWords.welcome

export function Welcome() {
  const me = usePerson()
  const options = useQuery(signInOptionsQuery)
  const [making, setMaking] = useState(false)
  const email = me.email ?? me.name
  return (
    <>
      <PageHead title={w.title} lead={w.lead(email)}>
        {options.data?.sign_up === 'open' ? (
          <Button onClick={() => setMaking(true)}>{w.create}</Button>
        ) : undefined}
      </PageHead>
      <Pile>
        {me.invitations.length === 0 ? undefined : <Invitations />}
        {me.organizations.length === 0 && me.invitations.length === 0 ? (
          <Card>
            <Empty title={w.nobody}>
              <p>{w.nobodyText(email)}</p>
              <Snippet
                label="npx"
                text={`npx interceptd member add <organization> ${email} --role developer`}
              />
            </Empty>
          </Card>
        ) : undefined}
        {me.organizations.length === 0 ? undefined : (
          <Card flush label={w.title}>
            <Items>
              {me.organizations.map((one) => (
                <Item
                  key={one.id}
                  action={
                    <ButtonLink
                      small
                      to="/o/$organization"
                      params={{ organization: one.slug }}
                      aria-label={`${w.open} ${one.name}`}
                    >
                      {w.open}
                    </ButtonLink>
                  }
                >
                  <span className="row">
                    <strong>{one.name}</strong> <Tag>{w.role(one.role)}</Tag>
                  </span>
                  <code className="muted">{one.slug}</code>
                </Item>
              ))}
            </Items>
          </Card>
        )}
      </Pile>
      {making ? <MakeOrganization onClose={() => setMaking(false)} /> : undefined}
    </>
  )
}

function Invitations() {
  const me = usePerson()
  const client = useQueryClient()
  const accept = useMutation({
    mutationFn: (invitation: (typeof me.invitations)[number]) =>
      call('POST /me/invitations/:invitation/accept', { path: { invitation: invitation.id } }),
    onError: sayRefused,
    onSuccess: async (_, invitation) => {
      await client.invalidateQueries({ queryKey: ['me'] })
      say(w.joined(invitation.organization.name))
    },
  })
  return (
    <Card flush title={w.invitations}>
      <Items>
        {me.invitations.map((one) => (
          <Item
            key={one.id}
            mark="waits"
            action={
              <Button
                small
                look="primary"
                busy={accept.isPending}
                onClick={() => accept.mutate(one)}
              >
                {w.accept}
              </Button>
            }
          >
            <strong>{one.organization.name}</strong>
            <p className="muted">{w.invitedAs(one.role)}</p>
          </Item>
        ))}
      </Items>
    </Card>
  )
}

function MakeOrganization({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [slug, setSlug] = useState<string>()
  const make = useMutation({
    mutationFn: () => call('POST /organizations', { body: { name, slug: slug ?? slugOf(name) } }),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ['me'] })
      await navigate({ to: '/o/$organization', params: { organization: made.slug } })
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title={w.createTitle}
      action={w.createAction}
      saving={make}
      disabled={name.trim() === ''}
      onSubmit={() => make.mutate()}
    >
      <TextField
        label={entryWords.setup.organizationName}
        error={fieldError(make.error, 'name')}
        value={name}
        maxLength={100}
        onValue={setName}
      />
      <TextField
        label={entryWords.setup.slug}
        hint={entryWords.setup.slugHint}
        error={fieldError(make.error, 'slug')}
        code
        maxLength={40}
        value={slug ?? slugOf(name)}
        onValue={setSlug}
      />
    </FormDialog>
  )
}
