import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { directoryWords as w } from '../../../words/en/directory.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import {
  directoryQuery,
  directoryRequestsQuery,
  directoryUsersQuery,
  type DirectoryRequest,
  type DirectoryUser,
} from '../../api/directory.ts'
import { connectionsQuery, type ConnectionKind } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Lamp } from '../../parts/Button.tsx'
import { CopyText } from '../../parts/Copy.tsx'
import { DataTable, onPhone, type Column } from '../../parts/DataTable.tsx'
import { Segmented } from '../../parts/Field.tsx'
import { cx } from '../../parts/cx.ts'
import { count, duration } from '../../parts/numbers.ts'
import { Empty, Loading, ProblemNotice } from '../../parts/States.tsx'
import { Badge, Card, Columns, Facts, Pile } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { Guide } from './guide.tsx'
import classes from './sso.module.css'
import { Tokens } from './Tokens.tsx'

const kinds = ['okta', 'entra', 'google', 'other'] as const
const firstError = 400

/** The company's directory: where it calls, with which token, what it asked, whom it sent. */
export function DirectoryTab() {
  const { slug } = useOrganization()
  const directory = useQuery(directoryQuery(slug))
  if (directory.data === undefined) {
    return directory.isError ? (
      <ProblemNotice error={directory.error} retry={() => void directory.refetch()} />
    ) : (
      <Loading />
    )
  }
  const {
    base_address: baseAddress,
    is_on: isOn,
    last_request_at: lastRequestAt,
    users,
    groups,
    tokens_at_most: tokensAtMost,
  } = directory.data
  const state = !isOn ? 'off' : lastRequestAt === undefined ? 'waits' : 'on'
  return (
    <Pile>
      <Columns>
        <Card
          title={
            <>
              {w.title}
              <Badge tone={state === 'on' ? 'pass' : 'plain'}>{w.states[state]}</Badge>
            </>
          }
          lead={w.lead}
        >
          <Facts
            facts={[
              [w.base, <CopyText key="base" text={baseAddress} what={w.base} />],
              [w.last, <Time key="last" at={lastRequestAt} form="relative" />],
              [w.users, count(users)],
              [w.groups, count(groups)],
            ]}
          />
        </Card>
        <ProviderSteps />
      </Columns>
      <Tokens atMost={tokensAtMost} />
      <Requests />
      <Users />
    </Pile>
  )
}

function ProviderSteps() {
  const { slug } = useOrganization()
  const connections = useQuery(connectionsQuery(slug)).data?.items
  const [chosen, setChosen] = useState<ConnectionKind>()
  const kind = chosen ?? connections?.[0]?.kind ?? 'okta'
  return (
    <Card title={w.guides}>
      <div className="stack">
        <Segmented
          label={w.guides}
          value={kind}
          options={kinds.map((value) => ({
            value,
            label: value === 'other' ? w.other : ssoWords.connection.kinds[value],
          }))}
          onValue={setChosen}
        />
        <Guide kind={kind} part="directory" />
      </div>
    </Card>
  )
}

function Requests() {
  const { slug } = useOrganization()
  const list = useInfiniteQuery(directoryRequestsQuery(slug))
  return (
    <Card title={w.requests.title} lead={w.requests.lead} flush>
      <DataTable
        bare
        label={w.requests.title}
        columns={requestColumns}
        rows={list.data?.pages.flatMap((page) => page.items) ?? []}
        rowId={(request) => request.id}
        list={list}
        empty={
          <Empty title={w.requests.emptyTitle}>
            <p className="row">
              <Lamp /> {w.requests.emptyText}
            </p>
          </Empty>
        }
      />
    </Card>
  )
}

function Users() {
  const { slug } = useOrganization()
  const list = useInfiniteQuery(directoryUsersQuery(slug))
  return (
    <Card title={w.people.usersTitle} flush>
      <DataTable
        bare
        label={w.people.usersTitle}
        columns={userColumns}
        rows={list.data?.pages.flatMap((page) => page.items) ?? []}
        rowId={(user) => user.id}
        list={list}
        empty={<Empty title={w.people.usersEmpty} />}
      />
    </Card>
  )
}

const requestColumns: readonly Column<DirectoryRequest>[] = [
  {
    id: 'time',
    head: w.requests.columns.time,
    width: '136px',
    hide: 'phone',
    cell: (request) => <Time at={request.at} form="short" />,
  },
  {
    id: 'request',
    head: w.requests.columns.request,
    wraps: true,
    cell: (request) => (
      <>
        <code title={`${request.method} ${request.path}`}>
          {request.method} {request.path}
        </code>
        {request.detail === undefined ? undefined : (
          <span className={cx('muted', classes.reason)}>{request.detail}</span>
        )}
        <span className={onPhone}>
          <Time at={request.at} form="short" />
        </span>
      </>
    ),
  },
  {
    id: 'status',
    head: w.requests.columns.status,
    width: '84px',
    cell: (request) => (
      <Badge tone={request.status < firstError ? 'pass' : 'refuse'}>{request.status}</Badge>
    ),
  },
  {
    id: 'took',
    head: w.requests.columns.took,
    width: '80px',
    end: true,
    hide: 'narrow',
    cell: (request) => duration(request.duration_ms),
  },
  {
    id: 'agent',
    head: w.requests.columns.agent,
    width: '180px',
    hide: 'medium',
    cell: (request) => <span className="muted">{request.agent}</span>,
  },
]

const userColumns: readonly Column<DirectoryUser>[] = [
  { id: 'name', head: w.people.columns.name, cell: (user) => user.name ?? user.user_name },
  {
    id: 'userName',
    head: w.people.columns.userName,
    hide: 'narrow',
    cell: (user) => <code>{user.user_name}</code>,
  },
  {
    id: 'external',
    head: w.people.columns.external,
    hide: 'medium',
    cell: (user) => <code>{user.external_id}</code>,
  },
  {
    id: 'groups',
    head: w.people.columns.groups,
    hide: 'medium',
    cell: (user) => user.groups.map((group) => group.name).join(', '),
  },
  {
    id: 'state',
    head: w.people.columns.state,
    width: '150px',
    cell: (user) => (
      <Badge tone={user.active ? 'pass' : 'plain'}>
        {user.active ? w.people.active : w.people.inactive}
      </Badge>
    ),
  },
  {
    id: 'changed',
    head: w.people.columns.changed,
    width: '130px',
    hide: 'medium',
    cell: (user) => <Time at={user.modified_at} form="relative" />,
  },
]
