import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { roles } from '../../api/choices.ts'
import { memberListQuery } from '../../api/members.ts'
import type { Member } from '../../api/shapes.ts'
import { words } from '../../../words/en.ts'
import { membersWords as w } from '../../../words/en/members.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Button } from '../../parts/Button.tsx'
import { DataTable, onNarrow, rowName, type Column } from '../../parts/DataTable.tsx'
import { FilterBar } from '../../parts/Filters.tsx'
import { Empty } from '../../parts/States.tsx'
import { SignInChart } from '../../parts/SignInChart.tsx'
import { Badge, PageHead, Pile, Tag } from '../../parts/Surface.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { Time } from '../../parts/Time.tsx'
import { VirtualBody } from '../../parts/VirtualBody.tsx'
import { Invitations } from './Invitations.tsx'
import { Invite } from './Invite.tsx'
import { RolesExplained } from './RolesExplained.tsx'

const here = getRouteApi('/frame/o/$organization/members')

export function Members() {
  const { slug, may } = useOrganization()
  const { tab } = here.useSearch()
  const navigate = here.useNavigate()
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <PageHead title={w.title} lead={w.lead}>
        <Button look="primary" icon="plus" onClick={() => setInviting(true)}>
          {w.invite}
        </Button>
      </PageHead>
      <Tabs
        label={w.title}
        value={tab ?? 'members'}
        onValue={(next) =>
          void navigate({ search: next === 'members' ? {} : { tab: next }, replace: true })
        }
        tabs={[
          {
            id: 'members',
            label: w.tabs.members,
            content: (
              <Pile>
                {may('members.manage') ? <SignInChart organization={slug} /> : undefined}
                <MemberList organization={slug} onInvite={() => setInviting(true)} />
              </Pile>
            ),
          },
          {
            id: 'invitations',
            label: w.tabs.invitations,
            content: <Invitations organization={slug} onInvite={() => setInviting(true)} />,
          },
          { id: 'roles', label: w.tabs.roles, content: <RolesExplained /> },
        ]}
      />
      {inviting ? <Invite organization={slug} onClose={() => setInviting(false)} /> : undefined}
    </>
  )
}

function MemberList({
  organization,
  onInvite,
}: {
  readonly organization: string
  readonly onInvite: () => void
}) {
  const { role, q } = here.useSearch()
  const navigate = here.useNavigate()
  const list = useInfiniteQuery(memberListQuery(organization, { role, search: q }))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const change = (patch: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...patch }), replace: true })
  return (
    <div>
      <FilterBar
        search={{ id: 'q', label: w.search, value: q }}
        filters={[
          {
            id: 'role',
            label: w.role,
            value: role,
            options: roles.map((value) => ({ value, label: words.roles[value] })),
          },
        ]}
        onChange={change}
      />
      <DataTable
        label={w.title}
        columns={columns(organization)}
        rows={rows}
        rowId={(member) => member.id}
        list={list}
        body={VirtualBody}
        onOpen={(member) =>
          void navigate({
            to: '/o/$organization/members/$member',
            params: { organization, member: member.id },
          })
        }
        filtered={{
          what: w.what,
          count: [role, q].filter(Boolean).length,
          clear: () => change({ role: undefined, q: undefined }),
        }}
        empty={
          <Empty title={w.alone}>
            <p>{w.aloneText}</p>
            <Button look="primary" onClick={onInvite}>
              {w.invite}
            </Button>
          </Empty>
        }
      />
    </div>
  )
}

function columns(organization: string): readonly Column<Member>[] {
  return [
    {
      id: 'name',
      head: w.columns.name,
      brief: (member) => member.name,
      cell: (member) => (
        <>
          <Link
            to="/o/$organization/members/$member"
            params={{ organization, member: member.id }}
            className={rowName}
            tabIndex={-1}
          >
            {member.name}
          </Link>
          <span className={onNarrow}>
            {member.deactivated_at === undefined ? member.email : w.deactivated}
          </span>
        </>
      ),
    },
    { id: 'email', head: w.columns.email, hide: 'narrow', cell: (member) => member.email },
    {
      id: 'role',
      head: w.columns.role,
      width: '110px',
      cell: (member) => words.roles[member.role],
    },
    {
      id: 'seen',
      head: w.columns.seen,
      width: '140px',
      hide: 'narrow',
      cell: (member) => <Time at={member.last_seen_at} form="relative" />,
    },
    {
      id: 'state',
      head: w.columns.state,
      width: '230px',
      hide: 'medium',
      cell: (member) => (
        <span className="row">
          {member.deactivated_at === undefined ? (
            <Badge tone="pass">{w.active}</Badge>
          ) : (
            <Badge tone="caution">{w.deactivated}</Badge>
          )}
          {isManaged(member) ? <Tag>{w.managed}</Tag> : undefined}
        </span>
      ),
    },
  ]
}

export function isManaged(member: Pick<Member, 'source'>): boolean {
  return member.source === 'directory' || member.source === 'scim'
}
