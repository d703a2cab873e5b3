import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../api/members.ts'
import { useOrganization, usePerson } from './membership.ts'

/** Returns a function that gives the name of a user by id, or the id itself if this person may not see the name. */
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
