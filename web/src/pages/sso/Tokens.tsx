import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { directoryWords } from '../../../words/en/directory.ts'
import {
  directoryTokensQuery,
  issueToken,
  revokeToken,
  type DirectoryToken,
} from '../../api/directory.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { FormDialog } from '../../parts/Dialogs.tsx'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { TextField } from '../../parts/Field.tsx'
import { IssuedToken } from '../../parts/IssuedToken.tsx'
import { RevokeToken } from '../../parts/RevokeToken.tsx'
import { Empty, fieldError } from '../../parts/States.tsx'
import { Badge, Card } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'

const w = directoryWords.tokens

export function Tokens({ atMost }: { readonly atMost: number }) {
  const { slug } = useOrganization()
  const client = useQueryClient()
  const [issuing, setIssuing] = useState(false)
  const [secret, setSecret] = useState<string>()
  const [revoking, setRevoking] = useState<DirectoryToken>()
  const list = useQuery(directoryTokensQuery(slug))
  const active = (list.data?.items ?? []).filter((token) => token.revoked_at === undefined)
  const refresh = () => void client.invalidateQueries({ queryKey: [slug, 'directory'] })
  const revoke = async (id: string) => await revokeToken(slug, id).then(refresh)
  const close = () => setRevoking(undefined)
  const forget = () => {
    setSecret(undefined)
    refresh()
  }
  const issueButton = (
    <Button
      small
      look={active.length === 0 ? 'primary' : 'plain'}
      disabled={active.length >= atMost}
      onClick={() => setIssuing(true)}
    >
      {w.issue}
    </Button>
  )
  return (
    <>
      <Card title={w.title} lead={w.lead(atMost)} actions={issueButton} flush>
        <DataTable
          bare
          label={w.title}
          columns={[...factColumns, revokeColumn(setRevoking)]}
          rows={list.data?.items ?? []}
          rowId={(token) => token.id}
          list={list}
          empty={noTokens}
        />
      </Card>
      {issuing ? (
        <Issue
          onClose={() => setIssuing(false)}
          onIssued={(text) => {
            setIssuing(false)
            setSecret(text)
          }}
        />
      ) : undefined}
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

function Issue({
  onClose,
  onIssued,
}: {
  readonly onClose: () => void
  readonly onIssued: (secret: string) => void
}) {
  const { slug } = useOrganization()
  const [name, setName] = useState('')
  const issuing = useMutation({
    mutationFn: () => issueToken(slug, name.trim()),
    onSuccess: (issued) => onIssued(issued.secret),
  })
  return (
    <FormDialog
      onClose={onClose}
      title={w.issueTitle}
      action={w.issue}
      saving={issuing}
      disabled={name.trim() === ''}
      onSubmit={() => issuing.mutate()}
    >
      <TextField
        label={w.name}
        hint={w.nameHint}
        error={fieldError(issuing.error, 'name')}
        maxLength={100}
        value={name}
        onValue={setName}
      />
    </FormDialog>
  )
}

const factColumns: readonly Column<DirectoryToken>[] = [
  {
    id: 'name',
    head: w.columns.name,
    wraps: true,
    cell: (token) => (
      <>
        {token.name}
        <code className={onPhone}>{token.hint}</code>
      </>
    ),
  },
  {
    id: 'hint',
    head: w.columns.hint,
    hide: 'narrow',
    cell: (token) => <code>{token.hint}</code>,
  },
  {
    id: 'used',
    head: w.columns.used,
    hide: 'narrow',
    cell: (token) => (
      <>
        <Time at={token.last_used_at} form="relative" />{' '}
        <span className="muted">
          {token.last_used_address === undefined ? undefined : w.from(token.last_used_address)}
        </span>
      </>
    ),
  },
  {
    id: 'created',
    head: w.columns.created,
    width: '112px',
    hide: 'medium',
    cell: (token) => <Time at={token.created_at} form="day" />,
  },
  {
    id: 'state',
    head: w.columns.state,
    width: '110px',
    hide: 'phone',
    cell: (token) =>
      token.issuer_left ? (
        <Badge tone="caution">{w.issuerLeft}</Badge>
      ) : (
        <Badge tone={token.revoked_at === undefined ? 'pass' : 'plain'}>
          {token.revoked_at === undefined ? w.active : w.revoked}
        </Badge>
      ),
  },
]

function revokeColumn(revoke: (token: DirectoryToken) => void): Column<DirectoryToken> {
  return {
    id: 'actions',
    head: '',
    width: '124px',
    end: true,
    cell: (token) =>
      token.revoked_at === undefined ? (
        <Button small look="danger" onClick={() => revoke(token)}>
          {w.revoke}
        </Button>
      ) : (
        <span className={onPhone}>{w.revoked}</span>
      ),
  }
}
