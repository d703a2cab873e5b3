import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listQuery } from './list.ts'

const mostNames = 200

/** The first 200 members, to show their names. */
export function membersQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'members', 'names'],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/members',
        { path: { organization }, query: { limit: mostNames } },
        { signal },
      ),
  })
}

/** The first 200 owners, queried separately because the first 200 members may not include all of them. */
export function ownersQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'members', 'owners'],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/members',
        { path: { organization }, query: { role: 'owner', limit: mostNames } },
        { signal },
      ),
  })
}

export function memberListQuery(
  organization: string,
  filter: { readonly role?: string | undefined; readonly search?: string | undefined },
) {
  return listQuery([organization, 'members', 'list'], 'GET /organizations/:organization/members', {
    path: { organization },
    query: filter,
  })
}

export function memberQuery(organization: string, member: string) {
  return queryOptions({
    queryKey: [organization, 'members', member],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/members/:member',
        { path: { organization, member } },
        { signal },
      ),
  })
}

export function memberSessionsQuery(organization: string, member: string) {
  return queryOptions({
    queryKey: [organization, 'members', member, 'sessions'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/members/:member/sessions',
        { path: { organization, member } },
        { signal },
      ),
  })
}

export function invitationsQuery(organization: string) {
  return listQuery([organization, 'invitations'], 'GET /organizations/:organization/invitations', {
    path: { organization },
  })
}
