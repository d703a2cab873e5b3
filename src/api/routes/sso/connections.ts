import { Type, type Static } from '../../../http/index.ts'
import {
  connectionKinds,
  type Connection,
  type ConnectionChange,
  type SettingsWish,
  type TestResult,
} from '../../../sso/index.ts'
import { route } from '../../core/route.ts'
import { input, nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

const Kind = oneOf(connectionKinds)
const GroupRole = Type.Object({
  group: Type.String({ minLength: 1, maxLength: 200 }),
  role: oneOf(['admin', 'developer', 'viewer']),
})
const Directory = Type.Object({
  claim: Type.String({ minLength: 1, maxLength: 200 }),
  attribute: oneOf(['externalId', 'userName']),
})
const Claims = Type.Object({
  email: Type.String(),
  email_verified: Type.String(),
  name: Type.String(),
  groups: Type.String(),
  directory: Directory,
})

const ConnectionShape = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    kind: Kind,
    issuer: Type.String(),
    client_id: Type.String(),
    /** `key`: private_key_jwt; the provider reads the public key at clientKeysUri. */
    credential: oneOf(['secret', 'key']),
    redirect_uri: Type.String(),
    initiate_login_uri: Type.String(),
    backchannel_logout_uri: Type.String(),
    client_keys_uri: Type.String(),
    scopes: Type.Array(Type.String()),
    claims: Claims,
    ask_user_info: Type.Boolean(),
    admits_new_people: Type.Boolean(),
    required_group: nullable(Type.String()),
    group_roles: Type.Array(GroupRole),
    session_maximum_seconds: nullable(Type.Integer()),
    is_default: Type.Boolean(),
    disabled_at: nullable(Time),
    created_at: Time,
    /** When a test last passed. */
    tested_at: nullable(Time),
    last_used_at: nullable(Time),
    /** An administrator saved it last: owners confirm their first sign-in through it. */
    owners_confirm: Type.Boolean(),
    /** The last refusal, until a sign-in or a test passes. */
    last_refusal: nullable(Type.Object({ code: Type.String(), sentence: Type.String(), at: Time })),
    version: Type.Integer(),
  },
  { title: 'Connection' },
)

const settings = {
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 20 }),
  ),
  claims: Type.Optional(
    input({
      email: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      email_verified: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      groups: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      directory: Type.Optional(Directory),
    }),
  ),
  ask_user_info: Type.Optional(Type.Boolean()),
  admits_new_people: Type.Optional(Type.Boolean()),
  required_group: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  group_roles: Type.Optional(Type.Array(GroupRole, { maxItems: 200 })),
  session_maximum_seconds: Type.Optional(nullable(Type.Integer({ minimum: 300, maximum: 86_400 }))),
}

/** A secret, or `private_key: true` for a key pair that is made here. */
const SettingsBody = Type.Object(settings)
type SettingsBody = Static<typeof SettingsBody>

const credential = {
  client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  private_key: Type.Optional(Type.Boolean()),
}

const Discovered = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    keys_address: Type.String(),
    userinfo_endpoint: nullable(Type.String()),
    algorithms: Type.Array(Type.String()),
    client_authentication: Type.Array(Type.String()),
    backchannel_logout: Type.Boolean(),
    scopes: nullable(Type.Array(Type.String())),
  },
  { title: 'Discovered' },
)

const Test = Type.Object(
  {
    id: Type.String(),
    started_at: Time,
    finished_at: nullable(Time),
    passed: nullable(Type.Boolean()),
    lines: Type.Array(
      Type.Object({
        step: Type.String(),
        outcome: oneOf(['passed', 'failed', 'skipped']),
        sentence: Type.String(),
        code: nullable(Type.String()),
        check: nullable(Type.String()),
      }),
    ),
    /** The claims as this organization reads them. */
    person: nullable(
      Type.Object({
        subject: Type.String(),
        email: nullable(Type.String()),
        email_verified: Type.Boolean(),
        name: nullable(Type.String()),
        groups: nullable(Type.Array(Type.String())),
        directory_value: nullable(Type.String()),
      }),
    ),
  },
  { title: 'ConnectionTest' },
)

const collection = '/organizations/:organization/connections'
const one = `${collection}/:connection`

/** Connections to an organization's identity provider. */
export const connectionRoutes = {
  [`GET ${collection}` as const]: route({
    summary: 'Connections, oldest first',
    permission: 'sso.manage',
    answer: Type.Object({ items: Type.Array(ConnectionShape) }),
    handle: async ({ organization }, rooms) => ({
      items: (await rooms.sso.connections.list(organization.id)).map(toConnection),
    }),
  }),

  [`POST ${collection}` as const]: route({
    summary: 'Connect an identity provider; its discovery document is checked first',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      ...settings,
      ...credential,
      kind: Type.Optional(Kind),
      issuer: Type.String({ minLength: 1, maxLength: 512 }),
      client_id: Type.String({ minLength: 1, maxLength: 512 }),
      reservation: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    answer: ConnectionShape,
    handle: async ({ organization, body, actor }, rooms) => {
      const { kind, issuer, client_id: clientId } = body
      const wish = {
        ...toSettings(body),
        kind,
        issuer,
        clientId,
        reservation: body.reservation,
        credential: toCredential(body) ?? ({ kind: 'key' } as const),
      }
      return toConnection(await rooms.sso.connections.connect(organization.id, wish, actor))
    },
  }),

  [`POST ${collection}/reservations` as const]: route({
    summary:
      'The addresses of a connection that is still to be made, to copy to the provider first',
    permission: 'sso.manage',
    status: 201,
    answer: Type.Object({
      reservation: Type.String(),
      redirect_uri: Type.String(),
      initiate_login_uri: Type.String(),
      backchannel_logout_uri: Type.String(),
      client_keys_uri: Type.String(),
    }),
    handle: async ({ organization }, rooms) => {
      const reserved = await rooms.sso.connections.reserve(organization.id)
      return { reservation: reserved.reservation, ...toAddresses(reserved) }
    },
  }),

  [`POST ${collection}/discover` as const]: route({
    summary: 'What an issuer says of itself, before anything is saved',
    permission: 'sso.manage',
    status: 200,
    body: input({ issuer: Type.String({ minLength: 1, maxLength: 512 }) }),
    answer: Discovered,
    handle: async ({ body }, rooms) => {
      const found = await rooms.sso.connections.discover(body.issuer.trim())
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
    summary: 'One connection',
    permission: 'sso.manage',
    answer: ConnectionShape,
    handle: async ({ organization, param }, rooms) =>
      toConnection(await rooms.sso.connections.get(organization.id, param('connection'))),
  }),

  [`PATCH ${one}` as const]: route({
    summary: 'Change a connection; another issuer or client id needs its credential again',
    permission: 'sso.manage',
    freshSignIn: true,
    body: input({
      ...settings,
      ...credential,
      issuer: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      client_id: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
    answer: ConnectionShape,
    handle: async ({ organization, param, body, actor, expectedVersion }, rooms) => {
      const change: ConnectionChange = {
        ...toSettings(body),
        issuer: body.issuer,
        clientId: body.client_id,
        credential: toCredential(body),
      }
      const id = param('connection')
      return toConnection(
        await rooms.sso.connections.change(organization.id, id, change, actor, expectedVersion),
      )
    },
  }),

  [`DELETE ${one}` as const]: route({
    summary: 'Delete a connection; sessions through it end',
    permission: 'sso.manage',
    freshSignIn: true,
    handle: async ({ organization, param, actor }, rooms) => {
      await rooms.sso.connections.remove(organization.id, param('connection'), actor)
      return undefined
    },
  }),

  [`POST ${one}/default` as const]: route({
    summary: 'Make it the connection for people who name the organization only',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 200,
    answer: ConnectionShape,
    handle: async ({ organization, param, actor }, rooms) =>
      toConnection(
        await rooms.sso.connections.makeDefault(organization.id, param('connection'), actor),
      ),
  }),

  [`POST ${one}/disable` as const]: route({
    summary: 'Let nobody in through it; its sessions end, sign-ins under way fail',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 200,
    answer: ConnectionShape,
    handle: async ({ organization, param, actor }, rooms) =>
      toConnection(
        await rooms.sso.connections.setDisabled(organization.id, param('connection'), true, actor),
      ),
  }),

  [`POST ${one}/enable` as const]: route({
    summary: 'Let people in through it again',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 200,
    answer: ConnectionShape,
    handle: async ({ organization, param, actor }, rooms) =>
      toConnection(
        await rooms.sso.connections.setDisabled(organization.id, param('connection'), false, actor),
      ),
  }),

  [`POST ${one}/tests` as const]: route({
    summary: 'Begin a test: open the address in a window; nobody is signed in by it',
    permission: 'sso.manage',
    status: 201,
    answer: Type.Object({ id: Type.String(), address: Type.String() }),
    handle: async ({ organization, param, person, actor }, rooms) => {
      const connection = await rooms.sso.connections.get(organization.id, param('connection'))
      return await rooms.sso.tests.start(connection, person.userId, actor)
    },
  }),

  [`GET ${one}/tests/:test` as const]: route({
    summary: "A test's result, step by step",
    permission: 'sso.manage',
    answer: Test,
    handle: async ({ organization, param }, rooms) => {
      const found = await rooms.sso.tests.get(organization.id, param('connection'), param('test'))
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

function toConnection(connection: Connection): Static<typeof ConnectionShape> {
  const { settings: has, lastRefusal } = connection
  const { id, name, kind, issuer, clientId, isDefault, version } = connection
  return {
    ...{ id, name, kind, issuer, client_id: clientId, is_default: isDefault, version },
    ...toAddresses(connection),
    credential: connection.credentialKind,
    scopes: [...has.scopes],
    claims: toClaims(has.claims),
    ask_user_info: has.askUserInfo,
    admits_new_people: has.admitsNewPeople,
    required_group: has.requiredGroup ?? null,
    group_roles: has.groupRoles.map((role) => ({ ...role })),
    session_maximum_seconds:
      has.sessionMaximumMs === undefined ? null : Math.floor(has.sessionMaximumMs / 1000),
    disabled_at: timeOrNull(connection.disabledAt),
    created_at: time(connection.createdAt),
    tested_at: timeOrNull(connection.testedAt),
    last_used_at: timeOrNull(connection.lastUsedAt),
    owners_confirm: !connection.setByOwner,
    last_refusal:
      lastRefusal === undefined
        ? null
        : {
            code: String(lastRefusal['code']),
            sentence: String(lastRefusal['sentence']),
            at: time(Number(lastRefusal['at'])),
          },
  }
}

function toAddresses(connection: Pick<Connection, AddressName>) {
  return {
    redirect_uri: connection.redirectUri,
    initiate_login_uri: connection.initiateLoginUri,
    backchannel_logout_uri: connection.backchannelLogoutUri,
    client_keys_uri: connection.clientKeysUri,
  }
}

type AddressName = 'redirectUri' | 'initiateLoginUri' | 'backchannelLogoutUri' | 'clientKeysUri'
type ClaimNames = Connection['settings']['claims']

function toClaims({ emailVerified, directory, ...claims }: ClaimNames) {
  return { ...claims, email_verified: emailVerified, directory: { ...directory } }
}

function fromClaims(claims: NonNullable<SettingsBody['claims']>): SettingsWish['claims'] {
  const { email_verified: emailVerified, ...others } = claims
  return emailVerified === undefined ? others : { ...others, emailVerified }
}

function toPerson(result: TestResult | undefined): Static<typeof Test>['person'] {
  const person = result?.person
  if (!person) return null
  return {
    subject: person.subject,
    email: person.email ?? null,
    email_verified: person.mailVerified,
    name: person.name ?? null,
    groups: person.groups === undefined ? null : [...person.groups],
    directory_value: person.directoryValue ?? null,
  }
}

function toSettings(body: SettingsBody): SettingsWish & { name?: string | undefined } {
  const { session_maximum_seconds: seconds } = body
  return {
    name: body.name,
    scopes: body.scopes,
    claims: body.claims && fromClaims(body.claims),
    askUserInfo: body.ask_user_info,
    admitsNewPeople: body.admits_new_people,
    requiredGroup: body.required_group,
    groupRoles: body.group_roles,
    sessionMaximumMs: typeof seconds === 'number' ? seconds * 1000 : seconds,
  }
}

function toCredential(body: {
  client_secret?: string
  private_key?: boolean
}): ConnectionChange['credential'] {
  if (body.client_secret !== undefined) return { kind: 'secret', secret: body.client_secret }
  return body.private_key === true ? { kind: 'key' } : undefined
}
