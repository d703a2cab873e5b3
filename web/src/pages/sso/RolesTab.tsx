import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { words } from '../../../words/en.ts'
import { directoryWords } from '../../../words/en/directory.ts'
import { directoryGroupsQuery, type DirectoryGroup, type GroupRole } from '../../api/directory.ts'
import { useManagedAmong, type Managed } from '../../api/managed.ts'
import { connectionsQuery } from '../../api/sso.ts'
import { ManagedTag, TakeOverButton } from '../../frame/Managed.tsx'
import { useOrganization } from '../../frame/membership.ts'
import { buttonClass } from '../../parts/Button.tsx'
import { DataTable, type Column } from '../../parts/DataTable.tsx'
import { Select } from '../../parts/Field.tsx'
import { count } from '../../parts/numbers.ts'
import { Empty } from '../../parts/States.tsx'
import { Card, Pile } from '../../parts/Surface.tsx'
import { groupRoles } from './group-roles.ts'
import { GroupRoles } from './GroupRoles.tsx'
import { RolePreview } from './RolePreview.tsx'

const w = directoryWords.roles

/** The role that each group grants; a change is previewed before it is made. */
export function RolesTab() {
  const { slug } = useOrganization()
  const [change, setChange] = useState<{ group: DirectoryGroup; role: GroupRole | undefined }>()
  const list = useInfiniteQuery(directoryGroupsQuery(slug))
  const connections = useQuery(connectionsQuery(slug)).data?.items ?? []
  const groups = list.data?.pages.flatMap((page) => page.items) ?? []
  const managed = useManagedAmong(
    slug,
    'groups',
    groups.map(({ id }) => id),
  )
  return (
    <Pile>
      <Card title={directoryWords.people.groupsTitle} lead={w.lead} flush>
        <DataTable
          bare
          label={directoryWords.people.groupsTitle}
          columns={columns(managed, (group, role) => setChange({ group, role }))}
          rows={groups}
          rowId={(group) => group.id}
          list={list}
          empty={
            <Empty title={w.emptyTitle}>
              <p>{w.emptyText}</p>
              <Link
                to="/o/$organization/sso"
                params={{ organization: slug }}
                search={{ tab: 'directory' }}
                className={buttonClass()}
              >
                {w.toDirectory}
              </Link>
            </Empty>
          }
        />
      </Card>
      {connections.map((connection) => (
        <GroupRoles key={connection.id} connection={connection} />
      ))}
      {change === undefined ? undefined : (
        <RolePreview group={change.group} role={change.role} onClose={() => setChange(undefined)} />
      )}
    </Pile>
  )
}

type Choose = (group: DirectoryGroup, role: GroupRole | undefined) => void

function columns(
  managed: ReadonlyMap<string, Managed>,
  choose: Choose,
): readonly Column<DirectoryGroup>[] {
  return [
    {
      id: 'name',
      head: directoryWords.people.columns.name,
      cell: (group) => (
        <>
          {group.name} <ManagedTag by={managed.get(group.id)} />
        </>
      ),
    },
    {
      id: 'external',
      head: directoryWords.people.columns.external,
      hide: 'medium',
      cell: (group) => <code>{group.external_id}</code>,
    },
    {
      id: 'members',
      head: directoryWords.people.columns.members,
      width: '100px',
      end: true,
      hide: 'narrow',
      cell: (group) => count(group.members),
    },
    {
      id: 'role',
      head: directoryWords.people.columns.role,
      width: '190px',
      cell: (group) => <RoleCell group={group} by={managed.get(group.id)} choose={choose} />,
    },
  ]
}

function RoleCell({
  group,
  by,
  choose,
}: {
  readonly group: DirectoryGroup
  readonly by: Managed | undefined
  readonly choose: Choose
}) {
  return (
    <span className="row">
      <Select
        aria-label={w.choose(group.name)}
        disabled={by !== undefined}
        value={group.role ?? ''}
        options={[
          { value: '', label: w.none },
          ...groupRoles.map((role) => ({ value: role, label: words.roles[role] })),
        ]}
        onValue={(value) =>
          choose(
            group,
            groupRoles.find((role) => role === value),
          )
        }
      />
      {by === undefined ? undefined : <TakeOverButton by={by} name={group.name} />}
    </span>
  )
}
