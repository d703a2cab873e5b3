import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { directoryWords } from '../../../words/en/directory.ts'
import { directoryUserQuery } from '../../api/directory.ts'
import { CopyText, Snippet } from '../../parts/Copy.tsx'
import { asRefused, ProblemNotice } from '../../parts/States.tsx'
import { Badge, Card, Facts } from '../../parts/Surface.tsx'
import { Time } from '../../parts/Time.tsx'
import { DirectoryRequests } from '../sso/DirectoryRequests.tsx'

const w = directoryWords.person
const notFound = 404

/** Renders nothing while the person's data is loading, or if the directory has no such person. */
export function DirectoryPerson({
  organization,
  member,
}: {
  readonly organization: string
  readonly member: string
}) {
  const view = useQuery(directoryUserQuery(organization, member))
  if (view.data === undefined) {
    return view.isError && asRefused(view.error).status !== notFound ? (
      <ProblemNotice error={view.error} retry={() => void view.refetch()} />
    ) : undefined
  }
  const { user, attributes, version, created_at: createdAt } = view.data
  const people = directoryWords.people
  return (
    <>
      <Card
        title={
          <span id="directory" className="row">
            {w.title}
            <Badge tone={user.active ? 'pass' : 'plain'}>
              {user.active ? people.active : people.inactive}
            </Badge>
          </span>
        }
        lead={w.lead}
      >
        <div className="stack">
          <Facts
            facts={[
              [people.columns.userName, user.user_name],
              [
                people.columns.external,
                user.external_id === undefined ? undefined : (
                  <CopyText key="id" text={user.external_id} what={people.columns.external} />
                ),
              ],
              [people.columns.groups, user.groups.map((group) => group.name).join(', ')],
              [w.created, <Time key="created" at={createdAt} />],
              [w.changed, <Time key="changed" at={user.modified_at} />],
              [w.version, String(version)],
            ]}
          />
          <Snippet label={w.attributes} text={JSON.stringify(attributes, undefined, 2)} />
          <p>
            <Link
              to="/o/$organization/audit"
              params={{ organization }}
              search={{ subject: member }}
            >
              {w.history}
            </Link>
          </p>
        </div>
      </Card>
      <DirectoryRequests user={member} />
    </>
  )
}
