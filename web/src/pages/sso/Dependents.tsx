import { useQuery } from '@tanstack/react-query'
import { ssoWords } from '../../../words/en/sso.ts'
import { dependentsQuery } from '../../api/sso.ts'
import { useOrganization } from '../../frame/membership.ts'

const w = ssoWords.connection

export function Dependents({ connection }: { readonly connection: string }) {
  const { slug } = useOrganization()
  const { data } = useQuery(dependentsQuery(slug, connection))
  if (data === undefined) return undefined
  return (
    <>
      <p>{w.dependents(data.people, data.only_this)}</p>
      {data.owners === 0 ? undefined : <p>{w.dependentOwners(data.owners)}</p>}
    </>
  )
}
