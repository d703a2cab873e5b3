import { permissions, type Permission } from '../../access/index.ts'
import { Type, type Static } from '../../http/index.ts'
import type { AccessTokenRecord } from '../../store/index.ts'
import { route } from '../core/route.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../core/paging.ts'
import { Confirmed, toConfirmed } from '../core/confirmed.ts'
import { momentOf } from '../core/moments.ts'
import { input, nullable, oneOf, Time, time } from '../core/schemas.ts'
import { dayMs } from '../../units.ts'

const permissionNames = Object.keys(permissions) as Permission[]

const AccessToken = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** The part of the secret that may be shown. */
    hint: Type.String(),
    state: oneOf(['active', 'expiring', 'expired', 'revoked']),
    permissions: Type.Array(oneOf(permissionNames)),
    /** null means every address. */
    cidrs: nullable(Type.Array(Type.String())),
    /** The member who created the token, directly or through another token; null if the operator did. */
    created_by: nullable(Type.String()),
    created_at: Time,
    expires_at: nullable(Time),
    last_used_at: nullable(Time),
    last_used_address: nullable(Type.String()),
    last_used_agent: nullable(Type.String()),
    revoked_at: nullable(Time),
  },
  { title: 'AccessToken' },
)

const expiringWithinMs = 14 * dayMs

/** Access tokens, with which programs administer an organization. */
export const accessTokenRoutes = {
  'GET /organizations/:organization/access-tokens': route({
    summary: 'Access tokens, newest first, including revoked and expired ones',
    permission: 'tokens.manage',
    query: Type.Object(pageQuery),
    answer: pageOf(AccessToken),
    handle: async ({ organization, query }, services) => {
      const page = { before: idCursor('tok', query.after), limit: limitOf(query) + 1 }
      return toPageById(query, await services.accessTokens.list(organization.id, page), (token) =>
        toAccessToken(token, services.clock.now()),
      )
    },
  }),

  'POST /organizations/:organization/access-tokens': route({
    summary: 'Issue an access token; only this response contains its secret',
    permission: 'tokens.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      name: Type.String({ minLength: 1, maxLength: 100 }),
      /** Defaults to read-only access (`traffic.see`). */
      permissions: Type.Optional(Type.Array(oneOf(permissionNames), { minItems: 1 })),
      cidrs: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 50 }), { minItems: 1 }))),
      /**
       * Defaults to 90 days from now, or to the expiry of the issuing access token if that is earlier. Setting null or
       * more than a year requires `owners.manage`.
       */
      expires_at: Type.Optional(nullable(Time)),
    }),
    answer: Type.Object({ access_token: AccessToken, secret: Type.String() }),
    handle: async ({ body, organization, actor }, services) => {
      const expiresAt = body.expires_at == null ? body.expires_at : momentOf(body.expires_at)
      const { token, secret } = await services.accessTokens.issue(
        {
          name: body.name,
          permissions: body.permissions,
          cidrs: body.cidrs ?? undefined,
          expiresAt,
        },
        { organization, actor },
      )
      return {
        access_token: toAccessToken(token, services.clock.now()),
        secret: secret.reveal(),
      }
    },
  }),

  'GET /organizations/:organization/access-tokens/:access_token': route({
    summary: 'An access token with its permissions and last use, without its secret',
    permission: 'tokens.manage',
    answer: AccessToken,
    handle: async ({ organization, param }, services) =>
      toAccessToken(
        await services.accessTokens.get(organization.id, param('access_token')),
        services.clock.now(),
      ),
  }),

  'POST /organizations/:organization/access-tokens/:access_token/revoke': route({
    summary: 'Revoke an access token permanently; responds when every node refuses it',
    permission: 'tokens.manage',
    status: 200,
    answer: Type.Object({ access_token: AccessToken, confirmation: Confirmed }),
    handle: async ({ organization, param, actor }, services) => {
      const which = { organizationId: organization.id, id: param('access_token') }
      const { token, confirmation } = await services.accessTokens.revoke(which, actor)
      return {
        access_token: toAccessToken(token, services.clock.now()),
        confirmation: toConfirmed(confirmation),
      }
    },
  }),
}

function toAccessToken(token: AccessTokenRecord, nowMs: number): Static<typeof AccessToken> {
  return {
    id: token.id,
    name: token.name,
    hint: token.hint,
    state: stateOf(token, nowMs),
    permissions: [...token.permissions] as Permission[],
    cidrs: token.cidrs === undefined ? null : [...token.cidrs],
    created_by: token.creatorUserId ?? null,
    created_at: time(token.createdAt),
    expires_at: token.expiresAt === undefined ? null : time(token.expiresAt),
    last_used_at: token.lastUsedAt === undefined ? null : time(token.lastUsedAt),
    last_used_address: token.lastUsedAddress ?? null,
    last_used_agent: token.lastUsedAgent ?? null,
    revoked_at: token.revokedAt === undefined ? null : time(token.revokedAt),
  }
}

function stateOf({ revokedAt, expiresAt }: AccessTokenRecord, nowMs: number) {
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt === undefined || expiresAt - nowMs > expiringWithinMs) return 'active'
  return expiresAt <= nowMs ? 'expired' : 'expiring'
}
