import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { organizationQuery, type Organization } from '../../api/organizations.ts'
import { accessTokenWords as t } from '../../../words/en/access-tokens.ts'
import { settingsWords as w } from '../../../words/en/settings.ts'
import { LockedWhile, ManagedNotice, useManaged } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { TextField } from '../../parts/Field.tsx'
import { QueryState, fieldError } from '../../parts/States.tsx'
import { SaveForm } from '../../parts/SaveForm.tsx'
import { Card, Columns, Facts, PageHead, Pile } from '../../parts/Surface.tsx'
import { span } from '../../parts/numbers.ts'
import { Time } from '../../parts/Time.tsx'
import { say, sayUndoable } from '../../parts/Toasts.tsx'
import { useDraft, versionFor } from '../../parts/useDraft.ts'
import { KeyDefaults } from './KeyDefaults.tsx'
import { RateOfAll } from './RateOfAll.tsx'

export function Settings() {
  const { slug, may, membership } = useOrganization()
  const organization = useQuery(organizationQuery(slug))
  const managed = useManaged('organization', membership.id)
  return (
    <>
      <PageHead title={w.title} lead={w.lead} />
      {organization.data === undefined ? (
        <QueryState query={organization} />
      ) : (
        <Pile>
          <ManagedNotice by={managed} name={organization.data.name} />
          <Columns>
            <LockedWhile by={managed}>
              <General it={organization.data} />
              <KeyDefaults it={organization.data} />
            </LockedWhile>
          </Columns>
          <LockedWhile by={managed}>
            <RateOfAll it={organization.data} />
          </LockedWhile>
          {may('tokens.manage') ? <TokensCard slug={slug} /> : undefined}
          <Retention it={organization.data} />
          {may('organization.delete') ? <Danger it={organization.data} /> : undefined}
        </Pile>
      )}
    </>
  )
}

function General({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const { base, draft, patch, forget } = useDraft(it, draftOf)
  const { name } = draft
  const rename = async (next: string, version: number) => {
    const input = { path: { organization: it.slug }, body: { name: next } }
    const after = await call('PATCH /organizations/:organization', input, { version })
    void client.invalidateQueries({ queryKey: ['me'] })
    await client.invalidateQueries({ queryKey: [it.slug, 'organization'] })
    forget()
    return after
  }
  const save = useMutation({
    mutationFn: async () => {
      const version = versionFor({ base, it }, (one) => one.name)
      return { before: it.name, after: await rename(name.trim(), version) }
    },
    onSuccess: ({ before, after }) =>
      sayUndoable(w.saved, async () => await rename(before, after.version)),
  })
  return (
    <Card title={w.general}>
      <SaveForm
        layout="stack"
        saving={save}
        disabled={name.trim() === '' || name === it.name}
        onSave={() => save.mutate()}
      >
        <TextField
          label={w.name}
          required
          maxLength={100}
          error={fieldError(save.error, 'name')}
          value={name}
          onValue={(next) => patch({ name: next })}
        />
        <Facts
          facts={[
            [w.slug, <CopyText key="slug" text={it.slug} what={w.slug} />],
            [w.id, <CopyText key="id" text={it.id} what={w.id} />],
            [
              w.plan,
              <span key="plan">
                {w.plans[it.plan] ?? it.plan} <span className="muted small">({w.planHint})</span>
              </span>,
            ],
            [w.created, <Time key="created" at={it.created_at} form="day" />],
          ]}
        />
      </SaveForm>
    </Card>
  )
}

const draftOf = ({ name }: Organization) => ({ name })

function TokensCard({ slug }: { readonly slug: string }) {
  return (
    <Card
      title={t.title}
      lead={t.cardLead}
      actions={
        <ButtonLink
          small
          to="/o/$organization/settings/access-tokens"
          params={{ organization: slug }}
        >
          {t.open}
        </ButtonLink>
      }
    />
  )
}

function Retention({ it }: { readonly it: Organization }) {
  const {
    calls_seconds: callsSeconds,
    deliveries_seconds: deliveriesSeconds,
    audit_seconds: auditSeconds,
  } = it.retention
  return (
    <Card title={w.retention} lead={w.retentionLead}>
      <Facts
        facts={[
          [w.calls, span(callsSeconds)],
          [w.deliveries, span(deliveriesSeconds)],
          [w.audit, span(auditSeconds)],
        ]}
      />
    </Card>
  )
}

function Danger({ it }: { readonly it: Organization }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useMutation({
    mutationFn: () =>
      call('DELETE /organizations/:organization', {
        path: { organization: it.slug },
        body: { slug: it.slug },
      }),
    onSuccess: async () => {
      await navigate({ to: '/welcome' })
      await client.invalidateQueries({ queryKey: ['me'] })
      client.removeQueries({ queryKey: [it.slug] })
      say(w.deleted)
    },
  })
  return (
    <Card title={w.danger} lead={w.dangerText}>
      <Button look="danger" onClick={() => setAsking(true)}>
        {w.delete}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={w.deleteTitle(it.name)}
        action={w.delete}
        typed={it.slug}
        saving={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>{w.dangerText}</p>
      </ConfirmDialog>
    </Card>
  )
}
