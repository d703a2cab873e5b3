import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type Answer } from './call.ts'

const watchMs = 5000

export type Directory = Answer<'GET /organizations/:organization/directory'>
export type DirectoryToken =
  Answer<'GET /organizations/:organization/directory/tokens'>['items'][number]
export type DirectoryRequest =
  Answer<'GET /organizations/:organization/directory/requests'>['items'][number]
export type DirectoryUser =
  Answer<'GET /organizations/:organization/directory/users'>['items'][number]
export type DirectoryGroup =
  Answer<'GET /organizations/:organization/directory/groups'>['items'][number]
export type GroupRole = NonNullable<DirectoryGroup['role']>

/**
 * A list is refetched only while just its first page is shown, because refetching would disturb a reader further down.
 */
function watchFirstPage(query: {
  readonly state: {
    readonly status: string
    readonly data?: { readonly pages: readonly unknown[] } | undefined
  }
}): number | false {
  return query.state.status !== 'error' && query.state.data?.pages.length === 1 ? watchMs : false
}

/** Refetched, because an administrator may be waiting for the directory's first request. */
export function directoryQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'directory', 'whole'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/directory', { path: { organization } }, { signal }),
    refetchInterval: (query) => (query.state.status === 'error' ? false : watchMs),
  })
}

/** SCIM tokens, newest first, including revoked ones; refetched, because another administrator may change them. */
export function directoryTokensQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'directory', 'tokens'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/directory/tokens',
        { path: { organization } },
        { signal },
      ),
    refetchInterval: (query) => (query.state.status === 'error' ? false : watchMs),
  })
}

/** The directory's latest requests, newest first: all, only refused ones, or those about one user or group. */
export function directoryRequestsQuery(
  organization: string,
  filter: { readonly failed?: boolean | undefined; readonly resource_id?: string | undefined },
) {
  return infiniteQueryOptions({
    queryKey: [organization, 'directory', 'requests', filter],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /organizations/:organization/directory/requests',
        {
          path: { organization },
          query: pageParam === '' ? filter : { ...filter, after: pageParam },
        },
        { signal },
      ),
    refetchInterval: watchFirstPage,
    getNextPageParam: (last) => last.next,
  })
}

/** Fails with 404 if the directory has no such user. */
export function directoryUserQuery(organization: string, user: string) {
  return queryOptions({
    queryKey: [organization, 'directory', 'user', user],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/directory/users/:user',
        { path: { organization, user } },
        { signal },
      ),
    retry: false,
  })
}

/** Identifiers that several of the directory's users share. */
export function directoryDuplicatesQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'directory', 'duplicates'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/directory/duplicates',
        { path: { organization } },
        { signal },
      ),
    staleTime: 60_000,
  })
}

/** Users that the directory sent, in order of arrival. */
export function directoryUsersQuery(organization: string) {
  return infiniteQueryOptions({
    queryKey: [organization, 'directory', 'users'],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /organizations/:organization/directory/users',
        { path: { organization }, query: pageParam === '' ? {} : { after: pageParam } },
        { signal },
      ),
    refetchInterval: watchFirstPage,
    getNextPageParam: (last) => last.next,
  })
}

export function directoryGroupsQuery(organization: string) {
  return infiniteQueryOptions({
    queryKey: [organization, 'directory', 'groups'],
    initialPageParam: '',
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /organizations/:organization/directory/groups',
        { path: { organization }, query: pageParam === '' ? {} : { after: pageParam } },
        { signal },
      ),
    refetchInterval: watchFirstPage,
    getNextPageParam: (last) => last.next,
  })
}

/** Issues a SCIM token; only this response contains its secret. */
export async function issueToken(organization: string, name: string) {
  return await call('POST /organizations/:organization/directory/tokens', {
    path: { organization },
    body: { name },
  })
}

export async function revokeToken(organization: string, token: string) {
  return await call('POST /organizations/:organization/directory/tokens/:token/revoke', {
    path: { organization, token },
  })
}

/** Lists the people whose role would change if a group granted another role. */
export async function previewRole(
  organization: string,
  group: string,
  role: GroupRole | undefined,
) {
  return await call('POST /organizations/:organization/directory/groups/:group/role/preview', {
    path: { organization, group },
    body: { role: role ?? null },
  })
}

/** Sets the role that a group grants to its members; undefined removes it. */
export async function setGroupRole(
  organization: string,
  group: string,
  role: GroupRole | undefined,
) {
  return await call('PUT /organizations/:organization/directory/groups/:group/role', {
    path: { organization, group },
    body: { role: role ?? null },
  })
}
