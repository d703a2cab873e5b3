import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { accessTokenWords as w } from '../../../words/en/access-tokens.ts'
import { accessTokensQuery, revokeAccessToken, type AccessToken } from '../../api/access-tokens.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { IssuedToken } from '../../parts/IssuedToken.tsx'
import { RevokeToken } from '../../parts/RevokeToken.tsx'
import { Empty } from '../../parts/States.tsx'
import { Badge, PageHead } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { IssueAccessToken } from './IssueAccessToken.tsx'

const here = getRouteApi('/frame/o/$organization/settings/access-tokens')
const tones = { active: 'pass', expiring: 'caution', expired: 'plain', revoked: 'plain' } as const

export function AccessTokens() {
  const { slug, may } = useOrganization()
  const client = useQueryClient()
  const { issue } = here.useSearch()
  const navigate = here.useNavigate()
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<AccessToken>()
  const list = useInfiniteQuery(accessTokensQuery(slug))
  const refresh = () => void client.invalidateQueries({ queryKey: [slug, 'access-tokens'] })
  const revoke = async (id: string) => await revokeAccessToken(slug, id).then(refresh)
  const close = () => setRevoking(undefined)
  const forget = () => {
    setSecret(undefined)
    refresh()
  }
  const show = (open: boolean) =>
    void navigate({ search: open ? { issue: 'yes' } : {}, replace: true })
  const issueButton = (
    <Button look="primary" onClick={() => show(true)}>
      {w.issue}
    </Button>
  )
  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        {issueButton}
      </PageHead>
      <DataTable
        label={w.title}
        columns={[
          ...factColumns,
          actionColumn({ slug, mayAudit: may('audit.see'), revoke: setRevoking }),
        ]}
        rows={list.data?.pages.flatMap((page) => page.items) ?? []}
        rowId={(token) => token.id}
        list={list}
        empty={noTokens}
      />
      {issue === undefined ? undefined : (
        <IssueAccessToken
          onClose={() => show(false)}
          onIssued={(text) => {
            show(false)
            setSecret(text)
          }}
        />
      )}
      <IssuedToken secret={secret} words={w} onClose={forget} />
      <RevokeToken token={revoking} words={w} revoke={revoke} onClose={close} />
    </>
  )
}

const noTokens = (
  <Empty title={w.emptyTitle}>
    <p>{w.emptyText}</p>
  </Empty>
)

const factColumns: readonly Column<AccessToken>[] = [
  {
    id: 'name',
    head: w.columns.name,
    wraps: true,
    cell: (token) => (
      <>
        {token.name} <code className="muted small">{token.hint}</code>
      </>
    ),
  },
  {
    id: 'may',
    head: w.columns.may,
    hide: 'medium',
    wraps: true,
    cell: (token) => <span className="small">{token.permissions.join(', ')}</span>,
  },
  {
    id: 'used',
    head: w.columns.used,
    hide: 'narrow',
    width: '190px',
    wraps: true,
    cell: (token) => (
      <>
        <Time at={token.last_used_at} form="relative" />{' '}
        {token.last_used_address === undefined ? undefined : (
          <span className="muted">{w.from(token.last_used_address)}</span>
        )}
      </>
    ),
  },
  {
    id: 'ends',
    head: w.columns.ends,
    width: '112px',
    hide: 'narrow',
    cell: (token) =>
      token.expires_at === undefined ? (
        <span className="muted">{w.never}</span>
      ) : (
        <Time at={token.expires_at} form="day" />
      ),
  },
  {
    id: 'state',
    head: w.columns.state,
    width: '110px',
    hide: 'phone',
    cell: (token) => <Badge tone={tones[token.state]}>{w.states[token.state]}</Badge>,
  },
]

function actionColumn({
  slug,
  mayAudit,
  revoke,
}: {
  readonly slug: string
  readonly mayAudit: boolean
  readonly revoke: (token: AccessToken) => void
}): Column<AccessToken> {
  return {
    id: 'actions',
    head: '',
    width: mayAudit ? '190px' : '96px',
    end: true,
    cell: (token) => (
      <span className="row">
        {mayAudit ? (
          <Link
            className="small"
            to="/o/$organization/audit"
            params={{ organization: slug }}
            search={{ actor: token.id }}
          >
            {w.did}
          </Link>
        ) : undefined}
        {token.state === 'revoked' ? (
          <span className={onPhone}>{w.states.revoked}</span>
        ) : (
          <Button small look="danger" onClick={() => revoke(token)}>
            {w.revoke}
          </Button>
        )}
      </span>
    ),
  }
}
