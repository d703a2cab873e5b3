import { useQuery } from '@tanstack/react-query'
import { words } from '../../../words/en.ts'
import { ssoWords } from '../../../words/en/sso.ts'
import { policyPreviewQuery } from '../../api/sso.ts'
import { useOrganization, usePerson } from '../../frame/membership.ts'
import { Loading, ProblemNotice } from '../../parts/States.tsx'
import classes from './sso.module.css'

const w = ssoWords.policy
const namesShown = 12

/** The people whom "SSO required" would sign out, shown before it is enabled. */
export function SignedOut({ breakGlass }: { readonly breakGlass: readonly string[] }) {
  const { slug } = useOrganization()
  const me = usePerson()
  const preview = useQuery(policyPreviewQuery(slug, breakGlass))
  if (preview.isError) {
    return <ProblemNotice error={preview.error} retry={() => void preview.refetch()} />
  }
  if (preview.data === undefined) return <Loading />
  const { people, sessions, more } = preview.data
  return (
    <div className="stack-tight" role="status">
      {people.length === 0 ? (
        <p>{w.nobodyOut}</p>
      ) : (
        <>
          <p>{w.signedOut(people.length, sessions)}</p>
          <ul className={classes.lines}>
            {people.slice(0, namesShown).map((one) => (
              <li key={one.user_id}>
                <span />
                <div>
                  <strong>{one.name}</strong>{' '}
                  <span className="muted">
                    {words.roles[one.role]}
                    {one.user_id === me.id ? `, ${w.you}` : ''}
                  </span>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
      {people.length > namesShown ? (
        <p className="muted">{w.andMore(people.length - namesShown)}</p>
      ) : undefined}
      {more ? <p className="muted">{w.notAll}</p> : undefined}
    </div>
  )
}
