import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import { signInOptionsQuery } from '../../api/entry.ts'
import { meQuery } from '../../api/me.ts'
import { entryWords } from '../../../words/en/entry.ts'
import { Alone } from '../../frame/Alone.tsx'
import { Button, buttonClass } from '../../parts/Button.tsx'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import { Snippet } from '../../parts/Copy.tsx'
import { Card, Notice } from '../../parts/Surface.tsx'

const w = entryWords.invitation
const here = getRouteApi('/invitations/$token')

/** Who invites whom, as what, and which sign-in is needed. */
export function Invitation() {
  const { token } = here.useParams()
  const client = useQueryClient()
  const navigate = useNavigate()
  const look = useQuery({
    queryKey: ['invitation', token],
    retry: false,
    queryFn: () => call('POST /invitations/look', { body: { token } }, { quiet: true }),
  })
  const me = useQuery({ ...meQuery, retry: false })
  const options = useQuery(signInOptionsQuery)
  // A sign-in with the invited e-mail accepts by itself: who comes back from it is led on.
  const wanted = new URLSearchParams(window.location.search).get('organization')
  const accept = useMutation({
    mutationFn: () => call('POST /invitations/accept', { body: { token } }),
    onSuccess: async () => {
      await client.invalidateQueries()
      await navigate({
        to: '/o/$organization',
        params: { organization: look.data?.organization.slug ?? '' },
      })
    },
  })
  const joined = me.data?.organizations.find(({ slug }) => slug === wanted)?.slug
  if (look.isError && wanted !== null && me.isPending) return <Loading />
  if (look.isError && joined !== undefined) {
    return <Navigate to="/o/$organization" params={{ organization: joined }} replace />
  }
  if (look.isError) {
    return (
      <Alone title={w.gone} lead={w.goneText}>
        <ProblemNotice error={look.error} />
      </Alone>
    )
  }
  if (look.data === undefined || me.isPending) return <Loading />
  const { organization, email, role, company } = look.data
  const providers = options.data?.providers ?? []
  const hasWay = company || providers.length > 0
  const back = `return_to=${encodeURIComponent(`/invitations/${token}?organization=${organization.slug}`)}`
  return (
    <Alone title={w.title(organization.name)} lead={w.lead(email, role)}>
      <Card>
        <div className="stack">
          {me.data === undefined ? (
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
          ) : (
            <>
              <p>{w.signedInAs(me.data.email ?? me.data.name)}</p>
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
          )}
        </div>
      </Card>
    </Alone>
  )
}
