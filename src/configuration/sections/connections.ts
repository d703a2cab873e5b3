import { Problem } from '../../errors.ts'
import {
  connectionKinds,
  kindOf,
  settingsFor,
  type Connection,
  type ConnectionInput,
} from '../../sso/index.ts'
import {
  flag,
  nameField,
  nullable,
  object,
  reference,
  text,
  texts,
  whole,
  words,
} from './fields.ts'
import { Type } from '../../http/index.ts'
import { noSecrets, slugFrom, type Entry, type Section, type Wanted } from './section.ts'

type Kind = (typeof connectionKinds)[number]
type Settings = Connection['settings']

const claim = (about: string) => text(200, about)
const groupRole = object(
  { group: claim('The group.'), role: words(['admin', 'developer', 'viewer'], 'Its role.') },
  ['group', 'role'],
)
const claims = object({
  email: claim('The claim with the address.'),
  email_verified: claim('The claim that says that it is verified.'),
  name: claim('The claim with the name.'),
  groups: claim('The claim with the groups.'),
  directory: object(
    {
      claim: claim('The claim that is compared with the directory.'),
      attribute: words(['externalId', 'userName'], 'With which attribute.'),
    },
    ['claim', 'attribute'],
  ),
})

/** The organization's identity providers. */
export const connectionSection: Section = {
  key: 'connections',
  noun: 'connection',
  permission: 'sso.manage',
  hasUniqueNames: false,
  schema: object(
    {
      name: nameField('What people see.'),
      kind: words(connectionKinds, 'By its issuer where it is left out.'),
      issuer: text(2000, "The provider's issuer."),
      client_id: text(512, 'The client id that the provider gave.'),
      client_secret: reference,
      scopes: texts(20, 'What is asked for.'),
      claims,
      ask_user_info: flag('Whether UserInfo is asked.'),
      admits_new_people: flag('Whether people of verified domains become members.'),
      ends_provider_session: flag('Whether signing out here signs out there.'),
      required_group: nullable(claim('The group that people must be in.')),
      group_roles: Type.Array(groupRole, { maxItems: 200 }),
      session_maximum_seconds: nullable(whole(300, 86_400, 'How long sessions last at most.')),
      default: flag('The one for people who name the organization only.'),
    },
    ['issuer', 'client_id'],
  ),
  loose: ['default'],
  secretPaths: ({ client_secret: secret }) =>
    secret === undefined || secret === null ? [] : ['client_secret'],
  defaults: (name, { issuer, kind }) => {
    const chosen = (kind ?? kindOf(String(issuer))) as Kind
    const settings = toFile(settingsFor(chosen, {}))
    return { name, kind: kindOf(String(issuer)), client_secret: null, ...settings }
  },
  tidy: ({ claims: given, ...entry }) => ({
    ...entry,
    ...(given === undefined
      ? {}
      : { claims: { ...standardOf(entry), ...(given as Record<string, unknown>) } }),
  }),
  async present({ organization, services }) {
    const found = await services.connections.list(organization.id)
    return await Promise.all(
      found.map(async (connection) => {
        const { credential } = await services.connections.clientOf(connection)
        const secrets =
          credential.kind === 'secret' ? new Map([['client_secret', credential.secret]]) : noSecrets
        const { id, name } = connection
        return { id, name: slugFrom(name), entry: entryOf(connection, credential.kind), secrets }
      }),
    )
  },
  async put(wanted, { organization, services, actor }) {
    const { entry, before } = wanted
    const { connections } = services
    const input = toInput(entry)
    if (before === undefined) {
      const made = {
        ...input,
        kind: entry['kind'] as Kind,
        credential: credentialOf(wanted),
        makeDefault: entry['default'] === true,
      }
      return (await connections.connect(organization.id, made, actor)).id
    }
    if (entry['kind'] !== before.entry['kind']) {
      throw new Problem(
        'invalid_input',
        'The kind of a connection cannot change; use another name.',
      )
    }
    const credential = keepsKey(wanted) ? undefined : credentialOf(wanted)
    const change = { ...input, credential }
    const after = await connections.change(organization.id, before.id, { change, actor })
    if (entry['default'] === true && !after.isDefault) {
      await connections.makeDefault(organization.id, after.id, actor)
    }
    return after.id
  },
  remove: async (id, { organization, services, actor }) =>
    await services.connections.remove(organization.id, id, actor),
}

function standardOf({ issuer, kind }: Entry): Entry {
  const chosen = (kind ?? kindOf(String(issuer))) as Kind
  return toFile(settingsFor(chosen, {}))['claims'] as Entry
}

function credentialOf({ entry, secretAt }: Wanted): ConnectionInput['credential'] {
  return entry['client_secret'] === null
    ? { kind: 'key' }
    : { kind: 'secret', secret: secretAt('client_secret') }
}

/** Whether the key pair stays: the provider already knows it, and a new one would lock everyone out. */
function keepsKey({ entry, before }: Wanted): boolean {
  return (
    entry['client_secret'] === null &&
    before?.entry['client_secret'] === null &&
    before.entry['issuer'] === entry['issuer'] &&
    before.entry['client_id'] === entry['client_id']
  )
}

function toFile(settings: Settings): Entry {
  const { email, emailVerified, name, groups, directory } = settings.claims
  const { sessionMaximumMs: session } = settings
  return {
    scopes: settings.scopes,
    claims: { email, email_verified: emailVerified, name, groups, directory },
    ask_user_info: settings.askUserInfo,
    admits_new_people: settings.admitsNewPeople,
    ends_provider_session: settings.endsProviderSession,
    required_group: settings.requiredGroup ?? null,
    group_roles: settings.groupRoles,
    session_maximum_seconds: session === undefined ? null : session / 1000,
  }
}

function entryOf(connection: Connection, credential: 'secret' | 'key'): Entry {
  const { name, kind, issuer, clientId, settings, isDefault } = connection
  return {
    ...{ name, kind, issuer, client_id: clientId },
    client_secret: credential === 'secret' ? '' : null,
    ...toFile(settings),
    ...(isDefault ? { default: true } : {}),
  }
}

function toInput(entry: Entry) {
  const given = entry['claims'] as Record<string, string>
  const seconds = entry['session_maximum_seconds'] as number | null
  return {
    name: String(entry['name']),
    issuer: String(entry['issuer']),
    clientId: String(entry['client_id']),
    scopes: entry['scopes'] as string[],
    claims: {
      email: given['email'],
      emailVerified: given['email_verified'],
      name: given['name'],
      groups: given['groups'],
      directory: given['directory'] as unknown as Settings['claims']['directory'],
    },
    askUserInfo: entry['ask_user_info'] === true,
    admitsNewPeople: entry['admits_new_people'] === true,
    endsProviderSession: entry['ends_provider_session'] === true,
    requiredGroup: entry['required_group'] as string | null,
    groupRoles: entry['group_roles'] as Settings['groupRoles'],
    sessionMaximumMs: seconds === null ? null : seconds * 1000,
  }
}
