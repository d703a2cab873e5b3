import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { directoryWords as w } from '../../../words/en/directory.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import {
  directoryQuery,
  directoryUsersQuery,
  type Directory,
  type DirectoryUser,
} from '../../api/directory.ts'
import { connectionsQuery, type ConnectionKind } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'
import { CopyText } from '../../parts/Copy.tsx'
import { DataTable, type Column } from '../../parts/DataTable.tsx'
import { Segmented } from '../../parts/Field.tsx'
import { count } from '../../parts/numbers.ts'
import { StackBar } from '../../parts/StackBar.tsx'
import { Empty, QueryState } from '../../parts/States.tsx'
import { Badge, Card, Columns, Facts, Pile } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { DirectoryNotices, Duplicates } from './DirectoryNotices.tsx'
import { DirectoryRequests } from './DirectoryRequests.tsx'
import { DirectoryGuide, type DirectoryProvider } from './guide.tsx'
import { Tokens } from './Tokens.tsx'

const kinds = ['okta', 'entra', 'google', 'jumpcloud', 'onelogin', 'pingone', 'other'] as const

export function DirectoryTab() {
  const { slug } = useOrganization()
  const directory = useQuery(directoryQuery(slug))
  if (directory.data === undefined) {
    return <QueryState query={directory} />
  }
  const {
    base_address: baseAddress,
    is_on: isOn,
    last_request_at: lastRequestAt,
    users,
    groups,
    people,
    tokens_at_most: tokensAtMost,
  } = directory.data
  const state = !isOn ? 'off' : lastRequestAt === undefined ? 'waits' : 'on'
  return (
    <Pile>
      <DirectoryNotices directory={directory.data} />
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
              [w.inStep.label, <InStep key="step" people={people} />],
            ]}
          />
        </Card>
        <ProviderSteps />
      </Columns>
      <Tokens atMost={tokensAtMost} />
      <DirectoryRequests />
      <Duplicates />
      <Users />
    </Pile>
  )
}

function InStep({ people }: { readonly people: Directory['people'] }) {
  const { in_step: inStep, different, not_sent: notSent } = people
  const told = [
    w.inStep.inStep(inStep),
    ...(different === 0 ? [] : [w.inStep.different(different)]),
    ...(notSent === 0 ? [] : [w.inStep.notSent(notSent)]),
  ]
  return (
    <span className="stack-tight">
      <StackBar
        label={w.inStep.bar(inStep, different, notSent)}
        parts={[
          { number: inStep, tone: 'flow' },
          { number: notSent, tone: 'waits' },
          { number: different, tone: 'bad' },
        ]}
      />
      <span className="muted">{told.join(' · ')}</span>
    </span>
  )
}

function ProviderSteps() {
  const { slug } = useOrganization()
  const connections = useQuery(connectionsQuery(slug)).data?.items
  const [chosen, setChosen] = useState<DirectoryProvider>()
  const kind: DirectoryProvider = chosen ?? connections?.[0]?.kind ?? 'okta'
  return (
    <Card title={w.guides}>
      <div className="stack">
        <Segmented
          label={w.guides}
          value={kind}
          options={kinds.map((value) => ({
            value,
            label: labelOf(value),
          }))}
          onValue={setChosen}
        />
        <DirectoryGuide kind={kind} />
      </div>
    </Card>
  )
}

function labelOf(kind: DirectoryProvider): string {
  if (kind === 'other') return w.other
  return kind in w.providers
    ? w.providers[kind as keyof typeof w.providers]
    : ssoWords.connection.kinds[kind as ConnectionKind]
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

function PersonLink({ user }: { readonly user: DirectoryUser }) {
  const { slug } = useOrganization()
  return (
    <Link
      to="/o/$organization/members/$member"
      params={{ organization: slug, member: user.id }}
      hash="directory"
    >
      {user.name ?? user.user_name}
    </Link>
  )
}

const userColumns: readonly Column<DirectoryUser>[] = [
  {
    id: 'name',
    head: w.people.columns.name,
    cell: (user) => <PersonLink user={user} />,
  },
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
