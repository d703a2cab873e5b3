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
  emailVerified: Type.String(),
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
    clientId: Type.String(),
    /** `key`: private_key_jwt; the provider reads the public key at clientKeysUri. */
    credential: oneOf(['secret', 'key']),
    redirectUri: Type.String(),
    initiateLoginUri: Type.String(),
    backchannelLogoutUri: Type.String(),
    clientKeysUri: Type.String(),
    scopes: Type.Array(Type.String()),
    claims: Claims,
    askUserInfo: Type.Boolean(),
    admitsNewPeople: Type.Boolean(),
    requiredGroup: nullable(Type.String()),
    groupRoles: Type.Array(GroupRole),
    sessionMaximumSeconds: nullable(Type.Integer()),
    isDefault: Type.Boolean(),
    disabledAt: nullable(Time),
    createdAt: Time,
    /** When a test last passed. */
    testedAt: nullable(Time),
    lastUsedAt: nullable(Time),
    /** An administrator saved it last: owners confirm their first sign-in through it. */
    ownersConfirm: Type.Boolean(),
    /** The last refusal, until a sign-in or a test passes. */
    lastRefusal: nullable(Type.Object({ code: Type.String(), sentence: Type.String(), at: Time })),
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
      emailVerified: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      groups: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      directory: Type.Optional(Directory),
    }),
  ),
  askUserInfo: Type.Optional(Type.Boolean()),
  admitsNewPeople: Type.Optional(Type.Boolean()),
  requiredGroup: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  groupRoles: Type.Optional(Type.Array(GroupRole, { maxItems: 200 })),
  sessionMaximumSeconds: Type.Optional(nullable(Type.Integer({ minimum: 300, maximum: 86_400 }))),
}

/** A secret, or `privateKey: true` for a key pair that is made here. */
const credential = {
  clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  privateKey: Type.Optional(Type.Boolean()),
}

const Discovered = Type.Object(
  {
    issuer: Type.String(),
    authorizationEndpoint: Type.String(),
    tokenEndpoint: Type.String(),
    keysAddress: Type.String(),
    userinfoEndpoint: nullable(Type.String()),
    algorithms: Type.Array(Type.String()),
    clientAuthentication: Type.Array(Type.String()),
    backchannelLogout: Type.Boolean(),
    scopes: nullable(Type.Array(Type.String())),
  },
  { title: 'Discovered' },
)

const Test = Type.Object(
  {
    id: Type.String(),
    startedAt: Time,
    finishedAt: nullable(Time),
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
        emailVerified: Type.Boolean(),
        name: nullable(Type.String()),
        groups: nullable(Type.Array(Type.String())),
        directoryValue: nullable(Type.String()),
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
      clientId: Type.String({ minLength: 1, maxLength: 512 }),
      reservation: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    answer: ConnectionShape,
    handle: async ({ organization, body, actor }, rooms) => {
      const { kind, issuer, clientId } = body
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
      redirectUri: Type.String(),
      initiateLoginUri: Type.String(),
      backchannelLogoutUri: Type.String(),
      clientKeysUri: Type.String(),
    }),
    handle: async ({ organization }, rooms) => await rooms.sso.connections.reserve(organization.id),
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
        ...found,
        userinfoEndpoint: found.userinfoEndpoint ?? null,
        algorithms: [...found.algorithms],
        clientAuthentication: [...found.clientAuthentication],
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
      clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
    answer: ConnectionShape,
    handle: async ({ organization, param, body, actor, expectedVersion }, rooms) => {
      const change: ConnectionChange = {
        ...toSettings(body),
        issuer: body.issuer,
        clientId: body.clientId,
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
        startedAt: time(found.createdAt),
        finishedAt: timeOrNull(found.finishedAt),
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
  const { redirectUri, initiateLoginUri, backchannelLogoutUri, clientKeysUri } = connection
  return {
    ...{ id, name, kind, issuer, clientId, isDefault, version },
    ...{ redirectUri, initiateLoginUri, backchannelLogoutUri, clientKeysUri },
    credential: connection.credentialKind,
    scopes: [...has.scopes],
    claims: { ...has.claims, directory: { ...has.claims.directory } },
    askUserInfo: has.askUserInfo,
    admitsNewPeople: has.admitsNewPeople,
    requiredGroup: has.requiredGroup ?? null,
    groupRoles: has.groupRoles.map((role) => ({ ...role })),
    sessionMaximumSeconds:
      has.sessionMaximumMs === undefined ? null : Math.floor(has.sessionMaximumMs / 1000),
    disabledAt: timeOrNull(connection.disabledAt),
    createdAt: time(connection.createdAt),
    testedAt: timeOrNull(connection.testedAt),
    lastUsedAt: timeOrNull(connection.lastUsedAt),
    ownersConfirm: !connection.setByOwner,
    lastRefusal:
      lastRefusal === undefined
        ? null
        : {
            code: String(lastRefusal['code']),
            sentence: String(lastRefusal['sentence']),
            at: time(Number(lastRefusal['at'])),
          },
  }
}

function toPerson(result: TestResult | undefined): Static<typeof Test>['person'] {
  const person = result?.person
  if (!person) return null
  return {
    subject: person.subject,
    email: person.email ?? null,
    emailVerified: person.mailVerified,
    name: person.name ?? null,
    groups: person.groups === undefined ? null : [...person.groups],
    directoryValue: person.directoryValue ?? null,
  }
}

interface SettingsBody extends Omit<SettingsWish, 'sessionMaximumMs'> {
  readonly name?: string
  readonly sessionMaximumSeconds?: number | null
}

function toSettings(body: SettingsBody): SettingsWish & { name?: string | undefined } {
  const { sessionMaximumSeconds: seconds } = body
  return {
    name: body.name,
    scopes: body.scopes,
    claims: body.claims,
    askUserInfo: body.askUserInfo,
    admitsNewPeople: body.admitsNewPeople,
    requiredGroup: body.requiredGroup,
    groupRoles: body.groupRoles,
    sessionMaximumMs: typeof seconds === 'number' ? seconds * 1000 : seconds,
  }
}

function toCredential(body: {
  clientSecret?: string
  privateKey?: boolean
}): ConnectionChange['credential'] {
  if (body.clientSecret !== undefined) return { kind: 'secret', secret: body.clientSecret }
  return body.privateKey === true ? { kind: 'key' } : undefined
}
