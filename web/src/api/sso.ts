import { queryOptions } from '@tanstack/react-query'
import { call, type Answer, type Input } from './call.ts'

const domainPollMs = 10_000
const testPollMs = 1500

/** A mail domain and the record that proves it. */
export type Domain = Answer<'GET /organizations/:organization/domains'>['items'][number]
/** A connection to an identity provider; its credential is never part of it. */
export type Connection = Answer<'GET /organizations/:organization/connections'>['items'][number]
export type ConnectionKind = Connection['kind']
/** What a person decides about a new connection. */
export type ConnectionWish = Input<'POST /organizations/:organization/connections'>['body']
/** What is changed of a connection. */
export type ConnectionChange = NonNullable<
  Input<'PATCH /organizations/:organization/connections/:connection'>['body']
>
/** Whether the company sign-in is required, and who is excepted. */
export type SsoPolicy = Answer<'GET /organizations/:organization/sso'>
/** A walk through the sign-in, step by step. */
export type ConnectionTest =
  Answer<'GET /organizations/:organization/connections/:connection/tests/:test'>

/** Domains; asked again while one of them waits for its record. */
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

/** Whom the deletion of a connection, or another issuer, would touch. */
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

/** Whether the company sign-in is required. */
export function policyQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'policy'],
    queryFn: ({ signal }) =>
      call('GET /organizations/:organization/sso', { path: { organization } }, { signal }),
  })
}

/** The addresses of a connection that is still to be made; asked for once. */
export function reservationQuery(organization: string) {
  return queryOptions({
    queryKey: [organization, 'sso', 'reservation'],
    staleTime: Infinity,
    gcTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) =>
      call(
        'POST /organizations/:organization/connections/reservations',
        { path: { organization } },
        { signal },
      ),
  })
}

/** What an issuer says of itself. */
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

/** One test of a connection, asked again until it has finished. */
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

/** Adds a domain; it counts once its record is seen. */
export async function addDomain(organization: string, name: string) {
  return await call('POST /organizations/:organization/domains', {
    path: { organization },
    body: { name },
  })
}

/** Asks the DNS now. */
export async function checkDomain(organization: string, domain: string) {
  return await call('POST /organizations/:organization/domains/:domain/check', {
    path: { organization, domain },
  })
}

/** Sends people of a domain to one connection; undefined means the default one. */
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

/** Removes a domain; its addresses are no longer routed. */
export async function removeDomain(organization: string, domain: string): Promise<void> {
  await call('DELETE /organizations/:organization/domains/:domain', {
    path: { organization, domain },
  })
}

/** Connects an identity provider. */
export async function connect(organization: string, wish: ConnectionWish) {
  return await call('POST /organizations/:organization/connections', {
    path: { organization },
    body: wish,
  })
}

/** Changes a connection; refused if somebody else changed it since. */
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

/** Lets people in through a connection, or nobody. */
export async function switchConnection(organization: string, connection: string, on: boolean) {
  const path = { organization, connection }
  return on
    ? await call('POST /organizations/:organization/connections/:connection/enable', { path })
    : await call('POST /organizations/:organization/connections/:connection/disable', { path })
}

/** Makes it the connection for people who name the organization only. */
export async function makeDefault(organization: string, connection: string) {
  return await call('POST /organizations/:organization/connections/:connection/default', {
    path: { organization, connection },
  })
}

/** Deletes a connection; sessions through it end. */
export async function deleteConnection(organization: string, connection: string): Promise<void> {
  await call('DELETE /organizations/:organization/connections/:connection', {
    path: { organization, connection },
  })
}

/** Begins a test; its address is to be opened in a window. */
export async function startTest(organization: string, connection: string) {
  return await call('POST /organizations/:organization/connections/:connection/tests', {
    path: { organization, connection },
  })
}

/** Requires the company sign-in, or not. */
export async function setPolicy(
  organization: string,
  policy: { readonly required: boolean; readonly break_glass: readonly string[] },
) {
  return await call('PUT /organizations/:organization/sso', {
    path: { organization },
    body: { required: policy.required, break_glass: [...policy.break_glass] },
  })
}

/** Who would be signed out if the company sign-in were required. */
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
