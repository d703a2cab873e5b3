import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { directoryWords } from '../../../words/en/directory.ts'
import { directoryDuplicatesQuery, type Directory } from '../../api/directory.ts'
import { useOrganization } from '../../frame/membership.ts'
import { Card, Item, Items, Notice } from '../../parts/Surface.tsx'

const w = directoryWords.notices
const silentHours = 24

export function DirectoryNotices({ directory }: { readonly directory: Directory }) {
  const { slug } = useOrganization()
  const { nothing_for_hours: hours, kept_owner: owner } = directory
  return (
    <>
      {hours === undefined || hours < silentHours ? undefined : (
        <Notice tone="caution" title={w.silent(hours)}>
          <p>{w.silentText}</p>
        </Notice>
      )}
      {owner === undefined ? undefined : (
        <Notice tone="caution" title={w.keptOwner(owner.name)}>
          <p>
            {w.keptOwnerText}{' '}
            <Link
              to="/o/$organization/members/$member"
              params={{ organization: slug, member: owner.id }}
            >
              {owner.name}
            </Link>
          </p>
        </Notice>
      )}
    </>
  )
}

export function Duplicates() {
  const { slug } = useOrganization()
  const items = useQuery(directoryDuplicatesQuery(slug)).data?.items ?? []
  if (items.length === 0) return undefined
  return (
    <Card title={w.duplicates} lead={w.duplicatesLead}>
      <Items>
        {items.map(({ kind, value, users }) => (
          <Item key={`${kind} ${value}`}>
            <p>
              {w.kinds[kind]} <code>{value}</code>
            </p>
            <p className="muted">{users.map((user) => user.user_name).join(', ')}</p>
          </Item>
        ))}
      </Items>
    </Card>
  )
}
