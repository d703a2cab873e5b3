import { Type, type Static } from '../../http/index.ts'
import type { DirectoryUser } from '../../directory/index.ts'
import type {
  DirectoryGroupRecord,
  DirectoryRequestRecord,
  DirectoryTokenRecord,
} from '../../store/index.ts'
import { route } from '../core/route.ts'
import {
  idCursor,
  limitOf,
  numberCursor,
  pageOf,
  pageQuery,
  toPage,
  toPageById,
} from '../core/paging.ts'
import { input, nullable, oneOf, Time, time, timeOrNull } from '../core/schemas.ts'
import { hourMs } from '../../units.ts'

const Role = oneOf(['admin', 'developer', 'viewer'])

const Token = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    hint: Type.String(),
    created_at: Time,
    last_used_at: nullable(Time),
    last_used_address: nullable(Type.String()),
    last_used_agent: nullable(Type.String()),
    revoked_at: nullable(Time),
    /** Whether the token is active although its issuer has lost the right to issue one. */
    issuer_left: Type.Boolean(),
  },
  { title: 'ScimToken' },
)

const Request = Type.Object(
  {
    id: Type.String(),
    at: Time,
    method: Type.String(),
    path: Type.String(),
    status: Type.Integer(),
    /** Why the request was refused: SCIM's keyword (RFC 7644, table 9) and a message. */
    scim_type: nullable(Type.String()),
    detail: nullable(Type.String()),
    /** The request's body, truncated and without secrets. */
    sent: nullable(Type.String()),
    /** Names of attributes that were sent but ignored, because no schema defines them. */
    ignored: Type.Array(Type.String()),
    /** The user or group that the request concerned. */
    resource_id: nullable(Type.String()),
    token_id: Type.String(),
    duration_ms: Type.Number(),
    address: nullable(Type.String()),
    agent: nullable(Type.String()),
  },
  { title: 'DirectoryRequest' },
)

const User = Type.Object(
  {
    /** The membership's id. */
    id: Type.String(),
    user_name: Type.String(),
    name: nullable(Type.String()),
    external_id: nullable(Type.String()),
    active: Type.Boolean(),
    groups: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
    modified_at: Time,
  },
  { title: 'DirectoryUser' },
)

const Group = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    external_id: nullable(Type.String()),
    role: nullable(Role),
    members: Type.Integer(),
    modified_at: Time,
  },
  { title: 'DirectoryGroup' },
)

const RoleInput = input({ role: nullable(Role) })
const base = '/organizations/:organization/directory'

/** An organization's SCIM directory, for its administrators: tokens, requests, users, groups and the groups' roles. */
export const directoryRoutes = {
  [`GET ${base}` as const]: route({
    summary:
      'The directory: its base URL, whether it is on, its totals and the time of its last request',
    permission: 'sso.manage',
    answer: Type.Object({
      base_address: Type.String(),
      is_on: Type.Boolean(),
      users: Type.Integer(),
      groups: Type.Integer(),
      tokens_at_most: Type.Integer(),
      /**
       * How many members match the directory's state, how many differ from it, and how many the directory never sent.
       */
      people: Type.Object({
        in_step: Type.Integer(),
        different: Type.Integer(),
        not_sent: Type.Integer(),
      }),
      last_request_at: nullable(Time),
      /** Whole hours since the directory's last request; null if the directory is off or has sent no request yet. */
      nothing_for_hours: nullable(Type.Integer()),
      /** An owner who stays a member although the directory deactivated them; null if there is none. */
      kept_owner: nullable(Type.Object({ id: Type.String(), name: Type.String() })),
    }),
    handle: async ({ organization }, services) => {
      const { clock, directories, baseUrl, store, maxScimTokens } = services
      const [last] = await directories.log.list(organization.id, { limit: 1 })
      const isOn = await directories.signIn.isOn(store, organization.id)
      const people = await directories.lists.inStep(organization.id)
      return {
        base_address: `${baseUrl}/scim/v2`,
        is_on: isOn,
        ...(await directories.lists.totals(organization.id)),
        people: {
          in_step: people.inStep,
          different: people.different,
          not_sent: people.notSent,
        },
        tokens_at_most: maxScimTokens,
        last_request_at: timeOrNull(last?.at),
        nothing_for_hours:
          last === undefined || !isOn ? null : Math.floor((clock.now() - last.at) / hourMs),
        kept_owner: (await directories.users.findKeptOwner(organization.id)) ?? null,
      }
    },
  }),
  [`GET ${base}/tokens` as const]: route({
    summary: 'SCIM tokens, newest first, including revoked ones',
    permission: 'sso.manage',
    answer: Type.Object({ items: Type.Array(Token) }),
    handle: async ({ organization }, { directories: { tokens } }) => {
      const found = await tokens.list(organization.id)
      const ofLeavers = await tokens.listOfLeavers(organization.id, found)
      return { items: found.map((token) => toToken(token, ofLeavers)) }
    },
  }),
  [`POST ${base}/tokens` as const]: route({
    summary: 'Issue a SCIM token; only this response contains its secret',
    permission: 'sso.manage',
    freshSignIn: true,
    status: 201,
    body: input({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
    answer: Type.Object({ token: Token, secret: Type.String() }),
    handle: async ({ organization, body, actor }, { directories, organizations }) => {
      const whole = await organizations.get(organization.id)
      const { token, secret } = await directories.tokens.issue(whole, body, actor)
      return { token: toToken(token), secret: secret.reveal() }
    },
  }),
  [`POST ${base}/tokens/:token/revoke` as const]: route({
    summary: 'Revoke a SCIM token; its next request is refused',
    permission: 'sso.manage',
    freshSignIn: true,
    answer: Token,
    handle: async ({ organization, param, actor }, { directories }) =>
      toToken(await directories.tokens.revoke(organization.id, param('token'), actor)),
  }),
  [`GET ${base}/requests` as const]: route({
    summary: 'The latest requests of the directory, newest first',
    permission: 'sso.manage',
    query: Type.Object({
      ...pageQuery,
      /** Only refused requests. */
      failed: Type.Optional(Type.Boolean()),
      /** Only requests about one user or group. */
      resource_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    answer: pageOf(Request),
    handle: async ({ organization, query }, { directories }) => {
      const page = {
        before: idCursor('req', query.after),
        limit: limitOf(query) + 1,
        failedOnly: query.failed,
        resourceId: query.resource_id,
      }
      const found = await directories.log.list(organization.id, page)
      return toPageById(query, found, toRequest)
    },
  }),
  [`GET ${base}/users` as const]: route({
    summary: 'Users that the directory sent, in order of arrival',
    permission: 'sso.manage',
    query: Type.Object(pageQuery),
    answer: pageOf(User),
    handle: async ({ organization, query }, { directories }) => {
      const ids = await directories.lists.byPosition(organization.id, 'user', positions(query))
      const found = await directories.users.getAll(organization.id, ids, true)
      return toPage(query, found, { item: toUser, cursorOf: (user) => String(user.position) })
    },
  }),
  [`GET ${base}/users/:user` as const]: route({
    summary: 'One user as the directory sent it, with every stored attribute',
    permission: 'sso.manage',
    answer: Type.Object({
      user: User,
      /** The SCIM resource as stored. */
      attributes: Type.Record(Type.String(), Type.Unknown()),
      version: Type.Integer(),
      created_at: Time,
    }),
    handle: async ({ organization, param }, { directories }) => {
      const user = await directories.users.get(organization.id, param('user'))
      return {
        user: toUser(user),
        attributes: JSON.parse(user.attributes) as Record<string, unknown>,
        version: user.version,
        created_at: time(user.createdAt),
      }
    },
  }),
  [`GET ${base}/duplicates` as const]: route({
    summary: 'Identifiers that several users share, and that therefore identify nobody',
    permission: 'sso.manage',
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          kind: oneOf(['external_id', 'address']),
          value: Type.String(),
          users: Type.Array(User),
        }),
      ),
    }),
    handle: async ({ organization }, { directories }) => {
      const found = await directories.users.listDuplicates(organization.id)
      return {
        items: found.map(({ kind, value, users }) => ({ kind, value, users: users.map(toUser) })),
      }
    },
  }),
  [`GET ${base}/groups` as const]: route({
    summary: 'Groups that the directory sent, and the roles they grant',
    permission: 'sso.manage',
    query: Type.Object(pageQuery),
    answer: pageOf(Group),
    handle: async ({ organization, query }, { directories }) => {
      const ids = await directories.lists.byPosition(organization.id, 'group', positions(query))
      const found = await directories.groups.getAll(organization.id, ids)
      return toPage(query, found, { item: toGroup, cursorOf: (group) => String(group.position) })
    },
  }),
  [`PUT ${base}/groups/:group/role` as const]: route({
    summary: 'Map a group to a role, or to none',
    permission: 'sso.manage',
    managed: { section: 'groups', param: 'group' },
    freshSignIn: true,
    body: RoleInput,
    answer: Type.Object({ group: Group, changed: Type.Integer() }),
    handle: async ({ organization, param, body, actor }, { directories }) => {
      const role = body.role ?? undefined
      const caller = { organizationId: organization.id, actor }
      const done = await directories.groups.setRole(caller, param('group'), role)
      return { group: toGroup(done.group), changed: done.changed }
    },
  }),
  [`POST ${base}/groups/:group/role/preview` as const]: route({
    summary:
      'Preview whose role would change if a group granted another role, without changing anything',
    permission: 'sso.manage',
    body: RoleInput,
    answer: Type.Object({
      items: Type.Array(
        Type.Object({
          membership_id: Type.String(),
          name: Type.String(),
          before: Type.String(),
          after: Type.String(),
        }),
      ),
    }),
    handle: async ({ organization, param, body }, { directories }) => {
      const role = body.role ?? undefined
      const items = await directories.groups.previewRole(organization.id, param('group'), role)
      return {
        items: items.map(({ membershipId, name, before, after }) => ({
          membership_id: membershipId,
          name,
          before,
          after,
        })),
      }
    },
  }),
}

/**
 * Returns the position after which the page starts (0 for the first page), and how many items to read: one more than
 * the page has, to see whether there are more.
 */
function positions(query: { after?: string; limit?: number }): { after: number; count: number } {
  return { after: numberCursor(query.after) ?? 0, count: limitOf(query) + 1 }
}

function toToken(
  token: DirectoryTokenRecord,
  ofLeavers: ReadonlySet<string> = new Set(),
): Static<typeof Token> {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    created_at: time(token.createdAt),
    last_used_at: timeOrNull(token.lastUsedAt),
    last_used_address: token.lastUsedAddress ?? null,
    last_used_agent: token.lastUsedAgent ?? null,
    revoked_at: timeOrNull(token.revokedAt),
    issuer_left: ofLeavers.has(token.id),
  }
}

function toRequest(request: DirectoryRequestRecord): Static<typeof Request> {
  return {
    id: request.id,
    at: time(request.at),
    method: request.method,
    path: request.path,
    status: request.status,
    scim_type: request.scimType ?? null,
    detail: request.detail ?? null,
    sent: request.sent ?? null,
    ignored: [...request.ignored],
    resource_id: request.resourceId ?? null,
    token_id: request.tokenId,
    duration_ms: Math.round(request.durationUs / 100) / 10,
    address: request.address ?? null,
    agent: request.agent ?? null,
  }
}

interface Named {
  readonly displayName?: string
  readonly name?: {
    readonly formatted?: string
    readonly givenName?: string
    readonly familyName?: string
  }
}

/**
 * Returns the name to show for a user; null if the directory sent none. The given and family names are joined, because
 * many directories send no other name.
 */
function nameOf({ displayName, name = {} }: Named): string | null {
  const joined = [name.givenName, name.familyName].filter((part) => part !== undefined).join(' ')
  const candidates = [displayName, name.formatted, joined]
  return candidates.find((text) => text !== undefined && text.trim() !== '') ?? null
}

function toUser(user: DirectoryUser): Static<typeof User> {
  const attributes = JSON.parse(user.attributes) as Named & { readonly userName: string }
  return {
    id: user.id,
    user_name: attributes.userName,
    name: nameOf(attributes),
    external_id: user.externalId ?? null,
    active: user.active,
    groups: user.groups.map((group) => ({
      id: group.groupId,
      name: (JSON.parse(group.attributes) as { displayName: string }).displayName,
    })),
    modified_at: time(user.modifiedAt),
  }
}

function toGroup(group: DirectoryGroupRecord): Static<typeof Group> {
  return {
    id: group.id,
    name: (JSON.parse(group.attributes) as { displayName: string }).displayName,
    external_id: group.externalId ?? null,
    role: group.role ?? null,
    members: group.members,
    modified_at: time(group.modifiedAt),
  }
}
