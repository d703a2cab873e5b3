import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../api/members.ts'
import { useOrganization, usePerson } from './membership.ts'

/**
 * Returns a function that gives the name of a user by id. It knows the person's own name and, if the person may manage
 * members, the names of the first 200 members; for every other user, it returns the id.
 */
export function useNames(): (userId: string | undefined) => string | undefined {
  const { slug, may } = useOrganization()
  const me = usePerson()
  const members = useQuery({ ...membersQuery(slug), enabled: may('members.manage') })
  return (userId) => {
    if (userId === undefined) return undefined
    if (userId === me.id) return me.name
    return members.data?.items.find((member) => member.user_id === userId)?.name ?? userId
  }
}
