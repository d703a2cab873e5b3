import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ssoWords } from '../../../words/en/sso.ts'
import { checkDomain, removeDomain, type Domain } from '../../api/sso.ts'
import { ManagedNotice, ManagedTag, useManaged } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { ConfirmDialog } from '../../parts/ConfirmDialog.tsx'
import { ProblemNotice } from '../../parts/States.tsx'
import { Badge, Card, Facts, Notice, type Tone } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { say } from '../../parts/Toasts.tsx'
import { DomainRoute } from './DomainRoute.tsx'

const w = ssoWords.domains
const tones: Readonly<Record<Domain['state'], Tone>> = {
  waiting: 'caution',
  verified: 'pass',
  lost: 'refuse',
}

export function DomainCard({ domain }: { readonly domain: Domain }) {
  const managed = useManaged('domains', domain.id)
  const checking = useCheck(domain)
  const [removing, setRemoving] = useState(false)
  return (
    <Card
      title={
        <>
          <code>{domain.name}</code>
          <Badge tone={tones[domain.state]}>{w.states[domain.state]}</Badge>
          <ManagedTag by={managed} />
        </>
      }
      actions={
        <>
          {domain.verified_by === 'operator' ? undefined : (
            <Button
              small
              look={domain.state === 'verified' ? 'plain' : 'primary'}
              busy={checking.isPending}
              onClick={() => checking.mutate()}
            >
              {w.check}
            </Button>
          )}
          <Button
            small
            look="quiet"
            disabled={managed !== undefined}
            onClick={() => setRemoving(true)}
          >
            {w.remove}
          </Button>
        </>
      }
    >
      <div className="stack">
        <ManagedNotice by={managed} />
        {domain.state === 'verified' ? <Verified domain={domain} /> : <Proof domain={domain} />}
        <DomainRoute domain={domain} locked={managed !== undefined} />
        {checking.error === null ? undefined : <ProblemNotice error={checking.error} />}
      </div>
      <RemoveDomain domain={domain} open={removing} onClose={() => setRemoving(false)} />
    </Card>
  )
}

function useCheck(domain: Domain) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => checkDomain(slug, domain.id),
    onSuccess: (after) => {
      if (after.state === 'verified' && domain.state !== 'verified') say(w.verifiedNow(after.name))
    },
    onSettled: () => void client.invalidateQueries({ queryKey: [slug, 'sso', 'domains'] }),
  })
}

function RemoveDomain({
  domain,
  open,
  onClose,
}: {
  readonly domain: Domain
  readonly open: boolean
  readonly onClose: () => void
}) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const removal = useMutation({
    mutationFn: () => removeDomain(slug, domain.id),
    onSuccess: () => {
      say(w.removed)
      void client.invalidateQueries({ queryKey: [slug, 'sso', 'domains'] })
    },
  })
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={w.removeTitle(domain.name)}
      action={w.remove}
      saving={removal}
      onConfirm={() => removal.mutate()}
    >
      <p>{w.removeText}</p>
    </ConfirmDialog>
  )
}

function Proof({ domain }: { readonly domain: Domain }) {
  return (
    <>
      {domain.state === 'lost' ? <Notice tone="refuse" title={w.lostText} /> : undefined}
      <p>{w.record}</p>
      <Record domain={domain} />
      <Seen domain={domain} />
    </>
  )
}

function Record({ domain }: { readonly domain: Domain }) {
  const { record } = domain
  return (
    <Facts
      facts={[
        [w.recordType, record.type],
        [w.recordName, <CopyText key="name" text={record.name} what={w.recordName} />],
        [
          w.recordRelative,
          <CopyText key="relative" text={record.relative_name} what={w.recordRelative} />,
        ],
        [w.recordValue, <CopyText key="value" text={record.value} what={w.recordValue} />],
      ]}
    />
  )
}

function Seen({ domain }: { readonly domain: Domain }) {
  const { seen, checked_at: checkedAt, next_check_at: nextCheckAt } = domain
  if (seen === undefined && checkedAt === undefined) return undefined
  return (
    <Notice tone="caution" live title={seen?.sentence}>
      {seen === undefined || seen.values.length === 0 ? undefined : (
        <p>
          {w.found}: <code>{seen.values.join(' · ')}</code>
        </p>
      )}
      <p className="muted">
        {w.checked} <Time at={checkedAt} form="relative" />.{' '}
        {nextCheckAt === undefined ? (
          w.notAgain
        ) : (
          <>
            {w.next} <Time at={nextCheckAt} form="relative" />.
          </>
        )}
      </p>
    </Notice>
  )
}

function Verified({ domain }: { readonly domain: Domain }) {
  return (
    <div className="stack-tight">
      <p>
        {w.since} {domain.verified_by === undefined ? undefined : w.verifiedBy[domain.verified_by]},{' '}
        <Time at={domain.verified_at} form="relative" />.{' '}
        {domain.verified_by === 'operator' ? undefined : w.keep}
      </p>
      {domain.verified_by === 'operator' ? undefined : (
        <Facts
          facts={[
            [
              w.facts.record,
              <CopyText key="record" text={domain.record.name} what={w.facts.record} />,
            ],
            [w.checked, <Time key="checked" at={domain.checked_at} form="relative" />],
          ]}
        />
      )}
    </div>
  )
}
