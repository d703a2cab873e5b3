import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, type Answer, type Input } from './call.ts'
import { listQuery } from './list.ts'
import type { Key } from './shapes.ts'

const watchMs = 1000
const callersMs = 5000

export type KeyCallers = Answer<'GET /organizations/:organization/keys/:key/callers'>

/** The body of an edit, which replaces all editable fields of a key: an omitted field is removed from the key. */
export type KeyBody = Input<'PUT /organizations/:organization/keys/:key'>['body']

export function keysQuery(
  organization: string,
  filter: {
    readonly search?: string | undefined
    readonly state?: string | undefined
    readonly label?: readonly string[]
  },
) {
  return infiniteQueryOptions({
    ...listQuery([organization, 'keys', 'list'], 'GET /organizations/:organization/keys', {
      path: { organization },
      query: filter,
    }),
    // Refetched so that a key soon shows as revoked when someone else revokes it.
    refetchInterval: ({ state }) =>
      state.status !== 'error' && state.data?.pages.length === 1 ? watchMs : false,
  })
}

export function keyQuery(organization: string, key: string) {
  return queryOptions({
    queryKey: [organization, 'keys', key],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys/:key',
        { path: { organization, key } },
        { signal },
      ),
  })
}

/** Refetched, because a person who rotates the key waits for its callers to switch to the new secret. */
export function keyCallersQuery(organization: string, key: string) {
  return queryOptions({
    queryKey: [organization, 'keys', key, 'callers'],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys/:key/callers',
        { path: { organization, key } },
        { signal },
      ),
    refetchInterval: (query) => (query.state.status === 'error' ? false : callersMs),
  })
}

export function keyQuotaQuery(organization: string, key: string) {
  return queryOptions({
    queryKey: [organization, 'keys', key, 'quota'],
    refetchInterval: callersMs,
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/keys/:key/quota',
        { path: { organization, key } },
        { signal },
      ),
  })
}

/** Revokes a key; resolves when every node refuses it. */
export async function revokeKey(organization: string, key: string) {
  return await call('POST /organizations/:organization/keys/:key/revoke', {
    path: { organization, key },
  })
}

/** Replaces all editable fields of a key; refused if the key has changed since `version`. */
export async function editKey(
  organization: string,
  { id, version }: Pick<Key, 'id' | 'version'>,
  body: KeyBody,
) {
  const path = { organization, key: id }
  return await call('PUT /organizations/:organization/keys/:key', { path, body }, { version })
}
