import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { memberQuery } from '../../api/members.ts'
import type { Member as MemberShape } from '../../api/shapes.ts'
import { words } from '../../../words/en.ts'
import { membersWords } from '../../../words/en/members.ts'
import { useOrganization, usePerson } from '../../frame/membership.ts'
import { CopyText } from '../../parts/Copy.tsx'
import { QueryState } from '../../parts/States.tsx'
import { Badge, Card, Columns, Facts, Notice, PageHead, Pile } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { DirectoryPerson } from './DirectoryPerson.tsx'
import { MemberActions } from './MemberActions.tsx'
import { MemberRole } from './MemberRole.tsx'
import { MemberSessions } from './MemberSessions.tsx'
import { isManaged } from './Members.tsx'

const w = membersWords.member
const here = getRouteApi('/frame/o/$organization/members/$member')

export function Member() {
  const { slug } = useOrganization()
  const { member: id } = here.useParams()
  const member = useQuery(memberQuery(slug, id))
  const back = (
    <Link to="/o/$organization/members" params={{ organization: slug }}>
      {w.back}
    </Link>
  )
  if (member.data !== undefined) return <Shown key={member.data.id} it={member.data} back={back} />
  return (
    <>
      <PageHead title={membersWords.title} back={back} />
      <QueryState query={member} />
    </>
  )
}

function Shown({ it, back }: { readonly it: MemberShape; readonly back: ReactNode }) {
  const { slug, may } = useOrganization()
  const self = it.user_id === usePerson().id
  return (
    <>
      <PageHead
        back={back}
        title={it.name}
        lead={
          <span className="row">
            {it.email}{' '}
            {it.deactivated_at === undefined ? undefined : (
              <Badge tone="caution">{membersWords.deactivated}</Badge>
            )}
          </span>
        }
      >
        {self || (it.role === 'owner' && !may('owners.manage')) ? undefined : (
          <MemberActions organization={slug} it={it} />
        )}
      </PageHead>
      <Pile>
        {isManaged(it) ? <Notice>{w.directoryNote}</Notice> : undefined}
        <Columns>
          <Card title={w.facts}>
            <Facts facts={factsOf(it)} />
          </Card>
          <MemberRole organization={slug} it={it} self={self} />
        </Columns>
        <MemberSessions organization={slug} member={it.id} />
        {isManaged(it) && may('sso.manage') ? (
          <DirectoryPerson organization={slug} member={it.id} />
        ) : undefined}
        <p>
          <Link
            to="/o/$organization/audit"
            params={{ organization: slug }}
            search={{ actor: it.user_id }}
          >
            {w.history}
          </Link>
        </p>
      </Pile>
    </>
  )
}

function factsOf(it: MemberShape): Parameters<typeof Facts>[0]['facts'] {
  const { columns } = membersWords
  return [
    [w.id, <CopyText key="id" text={it.id} what={w.id} />],
    [membersWords.role, words.roles[it.role]],
    [w.source, w.sources[it.source] ?? it.source],
    [columns.joined, <Time key="joined" at={it.joined_at} />],
    [columns.seen, <Time key="seen" at={it.last_seen_at} form="relative" />],
    [
      columns.state,
      it.deactivated_at === undefined ? membersWords.active : membersWords.deactivated,
    ],
  ]
}
