import { Type, type Static } from '../../../http/index.ts'
import {
  connectionKinds,
  type Connection,
  type ConnectionChange,
  type SettingsInput,
  type TestResult,
} from '../../../sso/index.ts'
import { input, nullable, oneOf, Time, time, timeOrNull } from '../../core/schemas.ts'

export const Kind = oneOf(connectionKinds)
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

export const ConnectionSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    kind: Kind,
    issuer: Type.String(),
    client_id: Type.String(),
    /** `key` means private_key_jwt; the provider reads the public key at `client_keys_uri`. */
    credential: oneOf(['secret', 'key']),
    redirect_uri: Type.String(),
    initiate_login_uri: Type.String(),
    backchannel_logout_uri: Type.String(),
    client_keys_uri: Type.String(),
    scopes: Type.Array(Type.String()),
    claims: Claims,
    ask_user_info: Type.Boolean(),
    admits_new_people: Type.Boolean(),
    /** Whether signing out here also signs out at the provider, if it has an end_session_endpoint. */
    ends_provider_session: Type.Boolean(),
    required_group: nullable(Type.String()),
    group_roles: Type.Array(GroupRole),
    session_maximum_seconds: nullable(Type.Integer()),
    is_default: Type.Boolean(),
    disabled_at: nullable(Time),
    created_at: Time,
    /** When a test last succeeded. */
    tested_at: nullable(Time),
    last_used_at: nullable(Time),
    /**
     * Whether the connection was last saved by somebody without `owners.manage`. An owner must then confirm before a
     * sign-in through the connection is linked to their account.
     */
    owners_confirm: Type.Boolean(),
    /** The last refusal; cleared when a sign-in or a test succeeds. */
    last_refusal: nullable(
      Type.Object({
        code: Type.String(),
        sentence: Type.String(),
        at: Time,
        /** Whether the refusal came from a test rather than a sign-in. */
        by_test: Type.Boolean(),
      }),
    ),
    version: Type.Integer(),
  },
  { title: 'Connection' },
)

/** The settings that a request to create or change a connection may contain. */
export const settingsProperties = {
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
  ends_provider_session: Type.Optional(Type.Boolean()),
  required_group: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  group_roles: Type.Optional(Type.Array(GroupRole, { maxItems: 200 })),
  session_maximum_seconds: Type.Optional(nullable(Type.Integer({ minimum: 300, maximum: 86_400 }))),
}

const SettingsBody = Type.Object(settingsProperties)
type SettingsBody = Static<typeof SettingsBody>

/** The client's credential: a secret, or `private_key: true` to generate a key pair on the server. */
export const credentialProperties = {
  client_secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  private_key: Type.Optional(Type.Boolean()),
}

export const Discovered = Type.Object(
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

export const ConnectionTest = Type.Object(
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
    /** The claims as the connection's settings interpret them; null if the test found no person. */
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

/** Converts a connection to the API's form, without its credential. */
export function toConnection(connection: Connection): Static<typeof ConnectionSchema> {
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
    ends_provider_session: has.endsProviderSession,
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
            by_test: lastRefusal['byTest'] === true,
          },
  }
}

/** Returns the URLs to register at the provider. */
export function toAddresses(connection: Pick<Connection, AddressName>) {
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

function fromClaims(claims: NonNullable<SettingsBody['claims']>): SettingsInput['claims'] {
  const { email_verified: emailVerified, ...others } = claims
  return emailVerified === undefined ? others : { ...others, emailVerified }
}

/** Converts the person whom a test found to the API's form; null if it found none. */
export function toPerson(result: TestResult | undefined): Static<typeof ConnectionTest>['person'] {
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

export function toSettings(body: SettingsBody): SettingsInput & { name?: string | undefined } {
  const { session_maximum_seconds: seconds } = body
  return {
    name: body.name,
    scopes: body.scopes,
    claims: body.claims && fromClaims(body.claims),
    askUserInfo: body.ask_user_info,
    admitsNewPeople: body.admits_new_people,
    endsProviderSession: body.ends_provider_session,
    requiredGroup: body.required_group,
    groupRoles: body.group_roles,
    sessionMaximumMs: typeof seconds === 'number' ? seconds * 1000 : seconds,
  }
}

export function toCredential(body: {
  client_secret?: string
  private_key?: boolean
}): ConnectionChange['credential'] {
  if (body.client_secret !== undefined) return { kind: 'secret', secret: body.client_secret }
  return body.private_key === true ? { kind: 'key' } : undefined
}
