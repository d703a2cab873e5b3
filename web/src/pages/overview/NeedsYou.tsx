import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Attention } from '../../api/shapes.ts'
import { attentionQuery } from '../../api/traffic.ts'
import { overviewWords as w } from '../../../words/en/overview.ts'
import { QueryState } from '../../parts/States.tsx'
import { Card, Item, Items } from '../../parts/Surface.tsx'
import { AttentionAction } from './AttentionAction.tsx'
import classes from './overview.module.css'

const maxAlone = 2

export function NeedsYou({ organization }: { readonly organization: string }) {
  const attention = useQuery(attentionQuery(organization))
  const items = attention.data?.items
  if (items?.length === 0)
    return <Card title={w.needsYou} actions={<span className="muted">{w.nothingNeeds}</span>} />
  return (
    <Card flush={items !== undefined} title={w.needsYou}>
      {items === undefined ? (
        <QueryState query={attention} />
      ) : (
        <Items>
          {groupsOf(items).map((group) =>
            group.items.length <= maxAlone ? (
              group.items.map((item) => (
                <Item
                  key={`${item.kind} ${item.subject_id}`}
                  mark={item.severity}
                  action={<AttentionAction organization={organization} item={item} />}
                >
                  <strong>{item.title}</strong>
                  <p className="muted">{item.text}</p>
                </Item>
              ))
            ) : (
              <Group key={group.kind} organization={organization} group={group} />
            ),
          )}
        </Items>
      )}
    </Card>
  )
}

interface KindGroup {
  readonly kind: string
  readonly items: readonly Attention[]
}

/** Groups items by kind, in order of first appearance; the server lists the most severe items first. */
function groupsOf(items: readonly Attention[]): readonly KindGroup[] {
  const groups = new Map<string, Attention[]>()
  for (const item of items) groups.set(item.kind, [...(groups.get(item.kind) ?? []), item])
  return [...groups].map(([kind, of]) => ({ kind, items: of }))
}

function Group({
  organization,
  group,
}: {
  readonly organization: string
  readonly group: KindGroup
}) {
  const [first] = group.items
  const title = w.groups[group.kind as keyof typeof w.groups] ?? w.groups.other
  return (
    <Item mark={first?.severity ?? 'waits'}>
      <details className={classes.group}>
        <summary>
          <strong>{title(group.items.length)}</strong>
        </summary>
        <ul>
          {group.items.map((item) => (
            <li key={item.subject_id}>
              <AttentionLink organization={organization} item={item} />
            </li>
          ))}
        </ul>
      </details>
      <p className="muted">{first?.text}</p>
    </Item>
  )
}

function AttentionLink({
  organization,
  item,
}: {
  readonly organization: string
  readonly item: Attention
}) {
  const id = item.subject_id
  switch (item.subject_kind) {
    case 'key':
      return (
        <Link to="/o/$organization/keys/$key" params={{ organization, key: id }}>
          {item.title}
        </Link>
      )
    case 'target':
      return (
        <Link to="/o/$organization/targets/$target" params={{ organization, target: id }}>
          {item.title}
        </Link>
      )
    case 'endpoint':
      return (
        <Link to="/o/$organization/webhooks/$endpoint" params={{ organization, endpoint: id }}>
          {item.title}
        </Link>
      )
    case 'domain':
      return (
        <Link to="/o/$organization/sso" params={{ organization }}>
          {item.title}
        </Link>
      )
    case 'access_token':
      return (
        <Link to="/o/$organization/settings/access-tokens" params={{ organization }}>
          {item.title}
        </Link>
      )
    case 'scim_token':
      return (
        <Link to="/o/$organization/sso" params={{ organization }} search={{ tab: 'directory' }}>
          {item.title}
        </Link>
      )
  }
}
