import { queryOptions } from '@tanstack/react-query'
import { call, type Answer, type Input } from './call.ts'

const domainPollMs = 10_000
const testPollMs = 1500

export type Domain = Answer<'GET /organizations/:organization/domains'>['items'][number]
/** A connection to an identity provider, without its credential. */
export type Connection = Answer<'GET /organizations/:organization/connections'>['items'][number]
export type ConnectionKind = Connection['kind']
export type ConnectionInput = Input<'POST /organizations/:organization/connections'>['body']
/** Omitted fields stay unchanged. */
export type ConnectionChange = NonNullable<
  Input<'PATCH /organizations/:organization/connections/:connection'>['body']
>
export type SsoPolicy = Answer<'GET /organizations/:organization/sso'>
export type ConnectionTest =
  Answer<'GET /organizations/:organization/connections/:connection/tests/:test'>

export function domainsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'domains'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/domains', { path: { organization } }, { signal }),
    refetchInterval: (query) =>
      query.state.data?.items.some((one) => one.state !== 'verified') === true
        ? domainPollMs
        : false,
  })
}

/** Connections, oldest first. */
export function connectionsQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'connections'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/connections', { path: { organization } }, { signal }),
  })
}

/** How many people are affected by deleting a connection or changing its issuer. */
export function dependentsQuery(organization: string, connection: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'dependents', connection],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/connections/:connection/dependents',
        { path: { organization, connection } },
        { signal },
      ),
  })
}

export function policyQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'policy'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/sso', { path: { organization } }, { signal }),
  })
}

/**
 * Reserves the URLs of a connection that does not exist yet. The query is static, because a refetch would reserve other
 * URLs after the person may already have registered the first ones at the provider.
 */
export function reservationQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'reservation'],
    staleTime: 'static',
    gcTime: Infinity,
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/connections/reservations',
        { path: { organization } },
        { signal },
      ),
  })
}

/** Has the server fetch an issuer's discovery document. */
export function discoveryQuery(organization: string, issuer: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'discovery', issuer],
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/connections/discover',
        { path: { organization }, body: { issuer } },
        { signal },
      ),
  })
}

export function testQuery(organization: string, connection: string, test: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'test', connection, test],
    queryFn: ({ signal }) =>
      call(
        'GET /organizations/:organization/connections/:connection/tests/:test',
        { path: { organization, connection, test } },
        { signal },
      ),
    refetchInterval: (query) =>
      query.state.data !== undefined && query.state.data.finished_at === undefined
        ? testPollMs
        : false,
  })
}

/** Adds a domain, which takes effect once its DNS record is found or the operator verifies it. */
export async function addDomain(organization: string, name: string) {
  return await call('POST /organizations/:organization/domains', {
    path: { organization },
    body: { name },
  })
}

/** Looks up a domain's DNS record now, without waiting for the next scheduled check. */
export async function checkDomain(organization: string, domain: string) {
  return await call('POST /organizations/:organization/domains/:domain/check', {
    path: { organization, domain },
  })
}

/** Routes sign-ins from a domain to a connection; undefined means the default connection. */
export async function routeDomain(
  organization: string,
  domain: string,
  connection: string | undefined,
) {
  return await call('PATCH /organizations/:organization/domains/:domain', {
    path: { organization, domain },
    body: { connection_id: connection ?? null },
  })
}

export async function removeDomain(organization: string, domain: string): Promise<void> {
  await call('DELETE /organizations/:organization/domains/:domain', {
    path: { organization, domain },
  })
}

/** Creates a connection, once the server has checked the identity provider's discovery document. */
export async function connect(organization: string, input: ConnectionInput) {
  return await call('POST /organizations/:organization/connections', {
    path: { organization },
    body: input,
  })
}

/** Changes a connection; refused if it has changed since `version`. */
export async function changeConnection(
  organization: string,
  connection: Pick<Connection, 'id' | 'version'>,
  change: ConnectionChange,
) {
  return await call(
    'PATCH /organizations/:organization/connections/:connection',
    { path: { organization, connection: connection.id }, body: change },
    { version: connection.version },
  )
}

export async function switchConnection(organization: string, connection: string, on: boolean) {
  const path = { organization, connection }
  return on
    ? await call('POST /organizations/:organization/connections/:connection/enable', { path })
    : await call('POST /organizations/:organization/connections/:connection/disable', { path })
}

/**
 * Makes a connection the organization's default: people sign in through it unless their domain is routed to another
 * connection.
 */
export async function makeDefault(organization: string, connection: string) {
  return await call('POST /organizations/:organization/connections/:connection/default', {
    path: { organization, connection },
  })
}

/** Deletes a connection; the sessions that it started end. */
export async function deleteConnection(organization: string, connection: string): Promise<void> {
  await call('DELETE /organizations/:organization/connections/:connection', {
    path: { organization, connection },
  })
}

/** Starts a test sign-in; the URL in the response has to be opened in a browser window. */
export async function startTest(organization: string, connection: string) {
  return await call('POST /organizations/:organization/connections/:connection/tests', {
    path: { organization, connection },
  })
}

/** Sets whether company sign-in is required, and which owners are exempt (`break_glass`). */
export async function setPolicy(
  organization: string,
  policy: { readonly required: boolean; readonly break_glass: readonly string[] },
) {
  return await call('PUT /organizations/:organization/sso', {
    path: { organization },
    body: { required: policy.required, break_glass: [...policy.break_glass] },
  })
}

/** The people who would be signed out if company sign-in were required. */
export function policyPreviewQuery(organization: string, breakGlass: readonly string[]) {
  return queryOptions({
    queryKey: [organization, 'sso', 'preview', ...breakGlass],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/sso/preview',
        { path: { organization }, body: { break_glass: breakGlass } },
        { signal },
      ),
  })
}
