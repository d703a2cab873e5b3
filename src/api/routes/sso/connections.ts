import { Type } from '../../../http/index.ts'
import type { ConnectionChange, TestResult } from '../../../sso/index.ts'
import { route } from '../../core/route.ts'
import { input, time, timeOrNull } from '../../core/schemas.ts'
import {
  ConnectionSchema,
  ConnectionTest,
  credentialProperties,
  Discovered,
  Kind,
  settingsProperties,
  toAddresses,
  toConnection,
  toCredential,
  toPerson,
  toSettings,
} from './connection-schema.ts'

const collection = '/organizations/:organization/connections'
const one = `${collection}/:connection`

/** Connections to an organization's identity provider. */
export const connectionRoutes = {
  [`GET ${collection}` as const]: route({
    summary: 'Connections, oldest first',
    permission: 'sso.manage',
    answer: Type.Object({ items: Type.Array(ConnectionSchema) }),
    handle: async ({ organization }, services) => ({
      items: (await services.sso.connections.list(organization.id)).map(toConnection),
    }),
  }),

  [`POST ${collection}` as const]: route({
    summary: 'Connect an identity provider; its discovery document is checked first',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      ...settingsProperties,
      ...credentialProperties,
      kind: Type.Optional(Kind),
      issuer: Type.String({ minLength: 1, maxLength: 512 }),
      client_id: Type.String({ minLength: 1, maxLength: 512 }),
      reservation: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    answer: ConnectionSchema,
    handle: async ({ organization, body, actor }, services) => {
      const { kind, issuer, client_id: clientId } = body
      const fields = {
        ...toSettings(body),
        kind,
        issuer,
        clientId,
        reservation: body.reservation,
        credential: toCredential(body) ?? ({ kind: 'key' } as const),
      }
      return toConnection(await services.sso.connections.connect(organization.id, fields, actor))
    },
  }),

  [`POST ${collection}/reservations` as const]: route({
    summary: 'The URLs of a future connection, to be registered at the provider first',
    permission: 'sso.manage',
    status: 201,
    answer: Type.Object({
      reservation: Type.String(),
      redirect_uri: Type.String(),
      initiate_login_uri: Type.String(),
      backchannel_logout_uri: Type.String(),
      client_keys_uri: Type.String(),
    }),
    handle: async ({ organization }, services) => {
      const reserved = await services.sso.connections.reserve(organization.id)
      return { reservation: reserved.reservation, ...toAddresses(reserved) }
    },
  }),

  [`POST ${collection}/discover` as const]: route({
    summary: 'Fetch an issuer’s discovery document, without saving anything',
    permission: 'sso.manage',
    status: 200,
    body: input({ issuer: Type.String({ minLength: 1, maxLength: 512 }) }),
    answer: Discovered,
    handle: async ({ body }, services) => {
      const found = await services.sso.connections.discover(body.issuer.trim())
      return {
        issuer: found.issuer,
        authorization_endpoint: found.authorizationEndpoint,
        token_endpoint: found.tokenEndpoint,
        keys_address: found.keysAddress,
        userinfo_endpoint: found.userinfoEndpoint ?? null,
        algorithms: [...found.algorithms],
        client_authentication: [...found.clientAuthentication],
        backchannel_logout: found.backchannelLogout,
        scopes: found.scopes === undefined ? null : [...found.scopes],
      }
    },
  }),

  [`GET ${one}` as const]: route({
    summary: 'A connection with its settings, without its credential',
    permission: 'sso.manage',
    answer: ConnectionSchema,
    handle: async ({ organization, param }, services) =>
      toConnection(await services.sso.connections.get(organization.id, param('connection'))),
  }),

  [`GET ${one}/dependents` as const]: route({
    summary: 'How many people are affected by deleting a connection or changing its issuer',
    permission: 'sso.manage',
    answer: Type.Object(
      {
        /** Active members who have signed in through this connection. */
        people: Type.Integer(),
        /** How many of the members in `people` have no other way to sign in. */
        only_this: Type.Integer(),
        /** How many of the members in `only_this` are owners. */
        owners: Type.Integer(),
      },
      { title: 'ConnectionDependents' },
    ),
    handle: async ({ organization, param }, services) => {
      const found = await services.sso.connections.dependents(organization.id, param('connection'))
      return { people: found.people, only_this: found.onlyThis, owners: found.owners }
    },
  }),

  [`PATCH ${one}` as const]: route({
    summary: 'Change a connection; a new issuer or client id requires the credential again',
    permission: 'sso.manage',
    managed: { section: 'connections', param: 'connection' },
    freshSignIn: true,
    body: input({
      ...settingsProperties,
      ...credentialProperties,
      issuer: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
    answer: ConnectionSchema,
    handle: async ({ organization, param, body, actor, expectedVersion }, services) => {
      const change: ConnectionChange = {
        ...toSettings(body),
        issuer: body.issuer,
        clientId: body.client_id,
        credential: toCredential(body),
      }
      const id = param('connection')
      return toConnection(
        await services.sso.connections.change(organization.id, id, {
          change,
          actor,
          expectedVersion,
        }),
      )
    },
  }),

  [`DELETE ${one}` as const]: route({
    summary: 'Delete a connection; its sessions end',
    permission: 'sso.manage',
    managed: { section: 'connections', param: 'connection' },
    freshSignIn: true,
    handle: async ({ organization, param, actor }, services) => {
      await services.sso.connections.remove(organization.id, param('connection'), actor)
      return undefined
    },
  }),

  [`POST ${one}/default` as const]: route({
    summary: 'Make a connection the default, for people who name only the organization',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 200,
    answer: ConnectionSchema,
    handle: async ({ organization, param, actor }, services) =>
      toConnection(
        await services.sso.connections.makeDefault(organization.id, param('connection'), actor),
      ),
  }),

  [`POST ${one}/disable` as const]: switchRoute(
    'Disable a connection: its sessions end, and sign-ins in progress fail',
    'disable',
  ),

  [`POST ${one}/enable` as const]: switchRoute('Enable a disabled connection', 'enable'),

  [`POST ${one}/tests` as const]: route({
    summary: 'Start a test sign-in, whose URL has to be opened in a browser; nobody is signed in',
    permission: 'sso.manage',
    status: 201,
    answer: Type.Object({ id: Type.String(), address: Type.String() }),
    handle: async ({ organization, param, person, actor }, services) => {
      const connection = await services.sso.connections.get(organization.id, param('connection'))
      return await services.sso.tests.start(connection, person.userId, actor)
    },
  }),

  [`GET ${one}/tests/:test` as const]: route({
    summary: "A test's result, step by step",
    permission: 'sso.manage',
    answer: ConnectionTest,
    handle: async ({ organization, param }, services) => {
      const found = await services.sso.tests.get(
        organization.id,
        param('connection'),
        param('test'),
      )
      const result = found.result as TestResult | undefined
      return {
        id: found.id,
        started_at: time(found.createdAt),
        finished_at: timeOrNull(found.finishedAt),
        passed: found.passed ?? null,
        lines: (result?.lines ?? []).map((line) => ({
          ...line,
          code: line.code ?? null,
          check: line.check ?? null,
        })),
        person: toPerson(result),
      }
    },
  }),
}

function switchRoute(summary: string, change: 'disable' | 'enable') {
  return route({
    summary,
    permission: 'sso.manage',
    freshSignIn: true,
    status: 200,
    answer: ConnectionSchema,
    handle: async ({ organization, param, actor }, { sso }) => {
      const id = param('connection')
      return toConnection(await sso.connections[change](organization.id, id, actor))
    },
  })
}
