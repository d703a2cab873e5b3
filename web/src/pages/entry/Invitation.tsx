import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { call, type Answer } from '../../api/call.ts'
import { signInOptionsQuery } from '../../api/entry.ts'
import { meQuery, type Me } from '../../api/me.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { Alone } from '../../frame/Alone.tsx'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { Card, Notice } from '../../parts/Surface.tsx'

const w = entryWords.invitation
const here = getRouteApi('/invitations/$token')

export function Invitation() {
  const { token } = here.useParams()
  const look = useQuery({
    queryKey: ['invitation', token],
    retry: false,
    queryFn: () => call('POST /invitations/look', { body: { token } }, { quiet: true }),
  })
  const me = useQuery({ ...meQuery, retry: false })
  if (look.isError) return <Gone error={look.error} me={me} />
  if (look.data === undefined || me.isPending) return <Loading />
  const { organization, email, role } = look.data
  const back = `return_to=${encodeURIComponent(`/invitations/${token}?organization=${organization.slug}`)}`
  return (
    <Alone title={w.title(organization.name)} lead={w.lead(email, role)}>
      <Card>
        <div className="stack">
          {me.data === undefined ? (
            <WaysIn invitation={look.data} back={back} />
          ) : (
            <Accept token={token} organization={organization.slug} me={me.data} back={back} />
          )}
        </div>
      </Card>
    </Alone>
  )
}

type Looked = Answer<'POST /invitations/look'>

/**
 * The invitation may just have been accepted, by signing in with the invited address; the person is then redirected to
 * the organization.
 */
function Gone({
  error,
  me,
}: {
  readonly error: unknown
  readonly me: { readonly isPending: boolean; readonly data: Me | undefined }
}) {
  const wanted = new URLSearchParams(window.location.search).get('organization')
  const joined = me.data?.organizations.find(({ slug }) => slug === wanted)?.slug
  if (wanted !== null && me.isPending) return <Loading />
  if (joined !== undefined) {
    return <Navigate to="/o/$organization" params={{ organization: joined }} replace />
  }
  return (
    <Alone title={w.gone} lead={w.goneText}>
      <ProblemNotice error={error} />
    </Alone>
  )
}

function WaysIn({ invitation, back }: { readonly invitation: Looked; readonly back: string }) {
  const { organization, email, role, company } = invitation
  const options = useQuery(signInOptionsQuery)
  const providers = options.data?.providers ?? []
  const hasWay = company || providers.length > 0
  return (
    <>
      {hasWay ? <p>{w.signIn(email)}</p> : undefined}
      {hasWay || options.data === undefined ? undefined : (
        <Notice tone="caution" title={w.noWayTitle}>
          <p>{w.noWay(email)}</p>
          <Snippet label="text" text={w.ask(organization.slug, email, role)} />
        </Notice>
      )}
      {company ? (
        <a
          className={buttonClass('primary')}
          href={`/api/v1/auth/sso/login?organization=${organization.slug}&${back}`}
        >
          {w.company}
        </a>
      ) : undefined}
      {providers.map((provider) => (
        <a
          key={provider}
          className={buttonClass('primary')}
          href={`/api/v1/auth/${provider}/login?${back}`}
        >
          {entryWords.signIn.with(entryWords.signIn.providers[provider] ?? provider)}
        </a>
      ))}
    </>
  )
}

function Accept({
  token,
  organization,
  me,
  back,
}: {
  readonly token: string
  readonly organization: string
  readonly me: Me
  readonly back: string
}) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () => call('POST /invitations/accept', { body: { token } }),
    onSuccess: async () => {
      await client.invalidateQueries()
      await navigate({ to: '/o/$organization', params: { organization } })
    },
  })
  return (
    <>
      <p>{w.signedInAs(me.email ?? me.name)}</p>
      {accept.isError ? <ProblemNotice error={accept.error} /> : undefined}
      <Button look="primary" busy={accept.isPending} onClick={() => accept.mutate()}>
        {w.accept}
      </Button>
      {accept.isError ? (
        <a className={buttonClass('plain')} href={`/sign-in?${back}`}>
          {w.other}
        </a>
      ) : undefined}
    </>
  )
}
