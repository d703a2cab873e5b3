import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { latestCallsQuery } from '../../api/calls.ts'
import { keyCallersQuery, keyQuery, keyQuotaQuery } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { frameWords } from '../../../words/en.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { ManagedNotice, ManagedTag, useManaged } from '../../frame/Managed.tsx'
import { useOrganization, usePerson } from '../../frame/membership.ts'
import { useNames } from '../../frame/useNames.ts'
import { RateShares } from '../../parts/RateShares.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { CopyText, Snippet } from '../../parts/Copy.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Card, Columns, Facts, Notice, PageHead, Pile } from '../../parts/Surface.tsx'
import { day, exact, Time } from '../../parts/Time.tsx'
import { QuotaGauge } from '../../parts/QuotaGauge.tsx'
import { CallsTable } from '../calls/CallsTable.tsx'
import { TrafficPanel } from '../calls/TrafficPanel.tsx'
import { Callers } from './Callers.tsx'
import { EditKey } from './EditKey.tsx'
import { GrantMatrix } from './GrantMatrix.tsx'
import { RevokeKey, RotateKey } from './KeyActions.tsx'
import { factsOf } from './key-fields.tsx'
import { OldSecret } from './OldSecret.tsx'
import { grantsText, keyHeader, KeyState } from './parts.tsx'

const here = getRouteApi('/frame/o/$organization/keys/$key')
const latest = 10

export function KeyPage() {
  const { slug } = useOrganization()
  const { key: id } = here.useParams()
  const key = useQuery(keyQuery(slug, id))
  const back = (
    <Link to="/o/$organization/keys" params={{ organization: slug }}>
      {w.detail.back}
    </Link>
  )
  if (key.data !== undefined) return <Shown key={key.data.id} it={key.data} back={back} />
  return (
    <>
      <PageHead title={w.title} back={back} />
      <QueryState query={key} />
    </>
  )
}

type Doing = 'rotate' | 'revoke' | 'edit'

function Shown({ it, back }: { readonly it: Key; readonly back: ReactNode }) {
  const { slug, may } = useOrganization()
  const me = usePerson()
  const client = useQueryClient()
  const managed = useManaged('keys', it.id)
  const { do: asked } = here.useSearch()
  const [doing, setDoing] = useState<Doing | undefined>(asked === 'revoke' ? 'revoke' : undefined)
  const allowed = may('keys.manage') || (may('keys.issue') && it.created_by === me.id)
  function done() {
    setDoing(undefined)
    void client.invalidateQueries({ queryKey: [slug, 'keys'] })
  }
  return (
    <>
      <PageHead
        back={back}
        title={it.name}
        lead={
          <span className="row">
            <code>{it.hint}</code>
            <KeyState state={it.state} />
            <ManagedTag by={managed} />
          </span>
        }
      >
        {allowed && it.state !== 'revoked' ? (
          <Actions locked={managed !== undefined} onDo={setDoing} />
        ) : undefined}
      </PageHead>
      <Pile>
        <StateNotice it={it} />
        <ManagedNotice by={managed} name={it.name} />
        <OldSecret organization={slug} it={it} allowed={allowed} onDone={done} />
        <Columns>
          <Card title={w.detail.facts}>
            <KeyFacts it={it} organization={slug} />
          </Card>
          <GrantsCard it={it} />
        </Columns>
        <Use it={it} />
        <LatestCalls it={it} />
        {may('audit.see') ? <History id={it.id} /> : undefined}
      </Pile>
      {doing === 'edit' ? <EditKey organization={slug} it={it} onDone={done} /> : undefined}
      {doing === 'rotate' ? <RotateKey organization={slug} it={it} onDone={done} /> : undefined}
      {doing === 'revoke' ? <RevokeKey organization={slug} it={it} onDone={done} /> : undefined}
    </>
  )
}

/**
 * While a file manages the key, only its fields are locked: the file never contains the secret, so rotating and
 * revoking stay possible.
 */
function Actions({
  locked,
  onDo,
}: {
  readonly locked: boolean
  readonly onDo: (doing: Doing) => void
}) {
  return (
    <>
      <Button look="primary" onClick={() => onDo('rotate')}>
        {w.detail.rotate}
      </Button>
      <Button disabled={locked} onClick={() => onDo('edit')}>
        {w.edit.action}
      </Button>
      <Button look="danger" onClick={() => onDo('revoke')}>
        {w.detail.revoke}
      </Button>
    </>
  )
}

function GrantsCard({ it }: { readonly it: Key }) {
  const { slug } = useOrganization()
  const isFree = it.grants === undefined || it.grants.length === 0
  const quota = useQuery({ ...keyQuotaQuery(slug, it.id), enabled: it.quota !== undefined })
  return (
    <Card title={w.detail.grants} lead={w.detail.grantsLead}>
      <div className="stack">
        {isFree ? undefined : <GrantMatrix grants={it.grants ?? []} />}
        <Facts
          facts={[
            ...(isFree ? [[frameWords.pages.targets, grantsText(it)] as const] : []),
            ...factsOf(it, { card: 'limits', organization: slug }),
          ]}
        />
        {quota.data?.quota === undefined ? undefined : <QuotaGauge quota={quota.data.quota} />}
      </div>
      {it.rate_limit === undefined ? undefined : (
        <RateShares organization={slug} subjectId={it.id} />
      )}
    </Card>
  )
}

function Use({ it }: { readonly it: Key }) {
  const { slug } = useOrganization()
  const { do: _, ...range } = here.useSearch()
  const navigate = here.useNavigate()
  const callers = useQuery(keyCallersQuery(slug, it.id))
  if (it.last_used_at === undefined) {
    return it.state === 'active' ? <NotUsed it={it} /> : undefined
  }
  return (
    <>
      <section className="stack" aria-label={w.detail.use}>
        <h2>{w.detail.use}</h2>
        <TrafficPanel
          organization={slug}
          filter={{ key: it.id }}
          range={range}
          onRange={(next) => void navigate({ search: next, resetScroll: false })}
        />
      </section>
      <Card flush title={w.detail.callers} lead={callersLead(callers.data?.recent_calls)}>
        <Callers
          label={w.detail.callers}
          callers={callers.data?.recent ?? []}
          list={callers}
          empty={<p className="muted pad">{w.detail.noCallers}</p>}
        />
      </Card>
    </>
  )
}

function LatestCalls({ it }: { readonly it: Key }) {
  const { slug } = useOrganization()
  const calls = useQuery(latestCallsQuery(slug, it.id, latest))
  return (
    <Card
      flush
      title={w.detail.calls}
      actions={
        <ButtonLink
          small
          to="/o/$organization/calls"
          params={{ organization: slug }}
          search={{ key: it.id }}
        >
          {w.detail.showCalls}
        </ButtonLink>
      }
    >
      <CallsTable
        bare
        calls={calls.data?.items ?? []}
        list={calls}
        without="key"
        empty={<p className="muted pad">{w.detail.notUsed}</p>}
      />
    </Card>
  )
}

function History({ id }: { readonly id: string }) {
  const { slug } = useOrganization()
  return (
    <p>
      <Link to="/o/$organization/audit" params={{ organization: slug }} search={{ subject: id }}>
        {w.detail.showHistory}
      </Link>
    </p>
  )
}

function callersLead(calls: number | undefined): string {
  return calls === undefined || calls === 0 ? w.detail.callersLeadNone : w.detail.callersLead(calls)
}

function StateNotice({ it }: { readonly it: Key }) {
  const names = useNames()
  if (it.state === 'revoked' && it.revoked_at !== undefined) {
    return (
      <Notice
        tone="refuse"
        title={w.detail.revokedNotice(names(it.revoked_by) ?? '', exact(it.revoked_at))}
      >
        <p>{w.detail.revokedForGood}</p>
      </Notice>
    )
  }
  if (it.state === 'expired') return <Notice tone="caution" title={w.detail.expiredNotice} />
  if (it.state === 'suspended') return <Notice tone="caution" title={w.detail.suspendedNotice} />
  return undefined
}

function KeyFacts({ it, organization }: { readonly it: Key; readonly organization: string }) {
  const names = useNames()
  const targets = useQuery(targetsQuery(organization))
  const target = targets.data?.items.find(({ id }) => id === it.last_used_target_id)?.slug
  return (
    <Facts
      facts={[
        [w.detail.id, <CopyText key="id" text={it.id} what={w.detail.id} />],
        [w.columns.scheme, <code key="scheme">{w.scheme[it.scheme]}</code>],
        [
          w.detail.issued,
          <span key="at">
            <Time at={it.created_at} />{' '}
            {it.created_by === undefined ? '' : w.detail.by(names(it.created_by) ?? '')}
          </span>,
        ],
        [
          w.detail.owner,
          it.personal_user_id === undefined
            ? w.detail.ofOrganization
            : w.detail.personalOf(names(it.personal_user_id) ?? ''),
        ],
        [w.detail.ends, it.expires_at === undefined ? w.noEnd : day(it.expires_at)],
        ...factsOf(it, { card: 'facts', organization }),
        [
          w.detail.lastUsed,
          it.last_used_at === undefined ? (
            w.detail.notUsed
          ) : (
            <span key="used">
              <Time at={it.last_used_at} form="relative" />{' '}
              {w.detail.usedFrom(it.last_used_address ?? '', it.last_used_agent ?? '')}
              {target === undefined ? undefined : (
                <>
                  {` ${w.detail.onTarget} `}
                  <Link
                    to="/o/$organization/targets/$target"
                    params={{ organization, target }}
                    className="mono"
                  >
                    {target}
                  </Link>
                </>
              )}
            </span>
          ),
        ],
      ]}
    />
  )
}

function NotUsed({ it }: { readonly it: Key }) {
  const target = it.grants?.[0]?.target
  const address = `${window.location.origin}/api/v1/intercept${target === undefined ? '' : `/${target}/`}`
  return (
    <Card title={w.detail.notUsed} lead={w.detail.notUsedText}>
      <Snippet label="curl" text={`curl ${address} \\\n  -H '${keyHeader(it.scheme, '…')}'`} />
    </Card>
  )
}
