import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { latestCallsQuery } from '../../api/calls.ts'
import { keyCallersQuery, keyQuery, keyQuotaQuery } from '../../api/keys.ts'
import type { Key } from '../../api/shapes.ts'
import { targetsQuery } from '../../api/targets.ts'
import { keysWords as w } from '../../../words/en/keys.ts'
import { useOrganization, usePerson } from '../../frame/membership.ts'
import { useNames } from '../../frame/useNames.ts'
import { RateShares } from '../../parts/RateShares.tsx'
import { Button, ButtonLink } from '../../parts/Button.tsx'
import { CopyText, Snippet } from '../../parts/Copy.tsx'
import { count } from '../../parts/numbers.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Card, Columns, Facts, Notice, PageHead, Pile } from '../../parts/Surface.tsx'
import { day, exact, Time } from '../../parts/Time.tsx'
import { QuotaGauge } from '../../parts/QuotaGauge.tsx'
import { CallsTable } from '../calls/CallsTable.tsx'
import { TrafficPanel } from '../calls/TrafficPanel.tsx'
import { Callers } from './Callers.tsx'
import { EditKey } from './EditKey.tsx'
import { GrantMatrix } from './GrantMatrix.tsx'
import { RevokeKey, RotateKey } from './KeyActions.tsx'
import { OldSecret } from './OldSecret.tsx'
import { grantsText, keyHeader, KeyState } from './parts.tsx'

const here = getRouteApi('/frame/o/$organization/keys/$key')
const latest = 10

/** One key's life: facts, where it is used, its calls, and how to end it. */
export function KeyPage() {
  const { slug, may } = useOrganization()
  const me = usePerson()
  const { key: id } = here.useParams()
  const client = useQueryClient()
  const key = useQuery(keyQuery(slug, id))
  const calls = useQuery(latestCallsQuery(slug, id, latest))
  const callers = useQuery(keyCallersQuery(slug, id))
  const { do: asked, ...search } = here.useSearch()
  const navigate = here.useNavigate()
  const quota = useQuery({ ...keyQuotaQuery(slug, id), enabled: key.data?.quota !== undefined })
  const [doing, setDoing] = useState<'rotate' | 'revoke' | 'edit' | undefined>(
    asked === 'revoke' ? 'revoke' : undefined,
  )
  const back = (
    <Link to="/o/$organization/keys" params={{ organization: slug }}>
      {w.detail.back}
    </Link>
  )
  if (key.data === undefined) {
    return (
      <>
        <PageHead title={w.title} back={back} />
        {key.isError ? (
          <ProblemNotice error={key.error} retry={() => void key.refetch()} />
        ) : (
          <Loading />
        )}
      </>
    )
  }
  const it = key.data
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
          </span>
        }
      >
        {allowed && it.state !== 'revoked' ? (
          <>
            <Button look="primary" onClick={() => setDoing('rotate')}>
              {w.detail.rotate}
            </Button>
            <Button onClick={() => setDoing('edit')}>{w.edit.action}</Button>
            <Button look="danger" onClick={() => setDoing('revoke')}>
              {w.detail.revoke}
            </Button>
          </>
        ) : undefined}
      </PageHead>
      <Pile>
        <StateNotice it={it} />
        <OldSecret organization={slug} it={it} allowed={allowed} onDone={done} />
        <Columns>
          <Card title={w.detail.facts}>
            <KeyFacts it={it} organization={slug} />
          </Card>
          <Card title={w.detail.grants} lead={w.detail.grantsLead}>
            <div className="stack">
              {it.grants === undefined || it.grants.length === 0 ? (
                <Facts facts={[[w.detail.grants, grantsText(it)]]} />
              ) : (
                <GrantMatrix grants={it.grants} />
              )}
              <Facts facts={limits(it)} />
              {quota.data?.quota === undefined ? undefined : (
                <QuotaGauge quota={quota.data.quota} />
              )}
            </div>
            {it.rate_limit === undefined ? undefined : (
              <RateShares organization={slug} subjectId={it.id} />
            )}
          </Card>
        </Columns>
        {it.last_used_at === undefined && it.state === 'active' ? <NotUsed it={it} /> : undefined}
        {it.last_used_at === undefined ? undefined : (
          <section className="stack" aria-label={w.detail.use}>
            <h2>{w.detail.use}</h2>
            <TrafficPanel
              organization={slug}
              filter={{ key: id }}
              range={search}
              onRange={(range) => void navigate({ search: range, resetScroll: false })}
            />
          </section>
        )}
        {it.last_used_at === undefined ? undefined : (
          <Card flush title={w.detail.callers} lead={callersLead(callers.data?.recent_calls)}>
            <Callers
              label={w.detail.callers}
              callers={callers.data?.recent ?? []}
              list={callers}
              empty={<p className="muted pad">{w.detail.noCallers}</p>}
            />
          </Card>
        )}
        <Card
          flush
          title={w.detail.calls}
          actions={
            <ButtonLink
              small
              to="/o/$organization/calls"
              params={{ organization: slug }}
              search={{ key: id }}
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
        {may('audit.see') ? (
          <p>
            <Link
              to="/o/$organization/audit"
              params={{ organization: slug }}
              search={{ subject: id }}
            >
              {w.detail.showHistory}
            </Link>
          </p>
        ) : undefined}
      </Pile>
      {doing === 'edit' ? <EditKey organization={slug} it={it} onDone={done} /> : undefined}
      {doing === 'rotate' ? <RotateKey organization={slug} it={it} onDone={done} /> : undefined}
      {doing === 'revoke' ? <RevokeKey organization={slug} it={it} onDone={done} /> : undefined}
    </>
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

function limits(it: Key): readonly (readonly [string, string])[] {
  return [
    [
      w.detail.addresses,
      it.cidrs === undefined || it.cidrs.length === 0 ? w.detail.anyAddress : it.cidrs.join(', '),
    ],
    [
      w.detail.limit,
      it.rate_limit === undefined
        ? w.detail.noLimit
        : w.detail.perSecond(count(it.rate_limit.calls), it.rate_limit.per_seconds),
    ],
    [
      w.detail.quota,
      it.quota === undefined
        ? w.detail.noQuota
        : w.detail.quotaText(count(it.quota.calls), it.quota.period),
    ],
  ]
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
