/** Credentials of programs that administer: `svc_admin_…`, of one organization or of the operator. */
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { credentialFormats } from '../credential-formats.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId, type UserId } from '../ids.ts'
import { credentialLookup, digest, mintCredential, type Secret } from '../secrets/index.ts'
import {
  accessTokens,
  FeedCache,
  type AccessTokenId,
  type AccessTokenRecord,
  type Actor,
  type Confirmation,
  type KnownAccessToken,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { checkTokenInput, type AccessTokenInput, type TokenMaker } from './access-token-input.ts'
import { cidrContains, parseCidr } from './cidr.ts'
import { permissionsOf, type Permission, type Role } from './permissions.ts'

const { prefix } = credentialFormats.accessToken
const maxActive = 100
const maxRemembered = 10_000
const maxAgentLength = 300
const noteUseEveryMs = 60_000
const expiringWithinMs = 14 * 86_400_000
const announcedAtOnce = 100

/** A program that administers, proven by its token. */
export interface TokenPrincipal {
  readonly kind: 'token'
  readonly tokenId: AccessTokenId
  readonly name: string
  readonly hint: string
  /** Undefined: the operator's token. */
  readonly organization: { readonly id: OrganizationId; readonly slug: string } | undefined
  /** The member whose role bounds it; undefined for one that the operator made. */
  readonly boundTo: UserId | undefined
  /** Where it works from; undefined = everywhere. */
  readonly cidrs: readonly string[] | undefined
  /** What it may do now: never more than its maker may. */
  readonly permissions: readonly Permission[]
}

/** Access tokens: issue, list, revoke, identify. */
export interface AccessTokens {
  /** `invalid_input`, `permission_required`, `conflict`. The secret is in this answer and nowhere else. */
  issue(
    input: AccessTokenInput,
    maker: TokenMaker,
  ): Promise<{ readonly token: AccessTokenRecord; readonly secret: Secret }>
  /** Newest first; revoked and expired ones too. */
  list(
    organizationId: OrganizationId | undefined,
    page: { readonly before?: string | undefined; readonly limit: number },
  ): Promise<AccessTokenRecord[]>
  /** `not_found`. */
  get(organizationId: OrganizationId | undefined, id: string): Promise<AccessTokenRecord>
  /** Any token by its id; for the operator, who names tokens without their organization. `not_found`. */
  find(id: string): Promise<AccessTokenRecord>
  /** Tokens that end within two weeks, soonest first. */
  listExpiring(organizationId: OrganizationId, limit: number): Promise<AccessTokenRecord[]>
  /** Answers when every node refuses the token. `not_found`. */
  revoke(
    token: { readonly organizationId: OrganizationId | undefined; readonly id: string },
    actor: Actor,
  ): Promise<{ readonly token: AccessTokenRecord; readonly confirmation: Confirmation }>
  /** Revokes the token that this secret is, by whoever holds it; undefined if it is no living token of ours. */
  revokeSecret(secret: string, actor: Actor): Promise<AccessTokenRecord | undefined>
  /** Whose token this is: `credential_invalid`, `credential_revoked`, `credential_expired` (401), `address_not_allowed` (403). */
  identify(
    secret: string,
    from: { readonly address: string; readonly agent?: string | undefined },
  ): Promise<TokenPrincipal>
  /** Whether a token that was let in is neither revoked nor expired, and may still do all that it might then. */
  isGood(principal: TokenPrincipal): Promise<boolean>
  /** Announces tokens that end within two weeks; returns how many. */
  announceExpiring(): Promise<number>
}

/** Opens the tokens' rules. */
export function createAccessTokens(deps: { store: Store; clock: Clock }): AccessTokens {
  const { store, clock } = deps
  const notedAt = new Map<string, number>()
  // A clock that is set back revives no token that has ended.
  let latestMs = 0
  const cache = new FeedCache<KnownAccessToken>({
    feed: store.feed,
    capacity: maxRemembered,
    read: async (tokenDigest) => await accessTokens.findByDigest(store, tokenDigest),
    subjectsOf: ({ token }) =>
      [token.id, token.organizationId, token.creatorUserId].filter((id) => id !== undefined),
    forgets: {
      access_token: ({ subjectId }) => subjectId,
      organization: ({ organizationId }) => organizationId,
      membership: ({ organizationId }) => organizationId,
      user: ({ subjectId }) => subjectId,
    },
  })

  async function revoke(
    which: { readonly organizationId: OrganizationId | undefined; readonly id: string },
    actor: Actor,
  ) {
    const { result, confirmation } = await store.transactionConfirmed(async (tx) => {
      const token = await accessTokens.revoke(tx, which, actor.id)
      if (!token) throw new Problem('not_found', 'There is no such active access token.')
      announce(tx, { change: 'revoked', token, actor })
      return token
    })
    return { token: result, confirmation }
  }

  async function get(organizationId: OrganizationId | undefined, id: string) {
    const found = await accessTokens.findKnown(store, organizationId, id)
    if (!found) throw new Problem('not_found', 'There is no such access token.')
    return found.token
  }

  function now(): number {
    latestMs = Math.max(latestMs, clock.now())
    return latestMs
  }

  return {
    revoke,
    get,
    async issue(input, maker) {
      const checked = checkTokenInput(input, maker, clock.now())
      const { secret } = mintCredential(prefix)
      const organizationId = maker.organization?.id
      const token = await store.transaction(async (tx) => {
        if ((await accessTokens.countActive(tx, organizationId)) >= maxActive) {
          throw new Problem('conflict', `${maxActive} access tokens are active. Revoke one first.`)
        }
        const issued = await accessTokens.insert(tx, {
          ...checked,
          id: createId('tok', tx.now),
          organizationId,
          hint: secret.hint,
          createdBy: maker.actor.id,
          creatorUserId: maker.actor.kind === 'user' ? (maker.actor.id as UserId) : maker.boundTo,
          digest: digest(secret.reveal()),
        })
        announce(tx, { change: 'issued', token: issued, actor: maker.actor })
        return issued
      })
      return { token, secret }
    },
    async find(id) {
      const token = await accessTokens.find(store, id)
      if (!token) throw new Problem('not_found', `There is no access token ${id}.`)
      return token
    },
    list: async (organizationId, page) => await accessTokens.list(store, organizationId, page),
    async listExpiring(organizationId, limit) {
      const after = clock.now()
      const between = { after, before: after + expiringWithinMs, limit }
      return await accessTokens.listExpiring(store, organizationId, between)
    },
    async revokeSecret(text, actor) {
      if (credentialLookup(text, prefix) === undefined) return undefined
      const found = await accessTokens.findByDigest(store, digest(text))
      if (!found || found.token.revokedAt !== undefined) return undefined
      const { organizationId, id } = found.token
      return (await revoke({ organizationId, id }, actor)).token
    },
    async identify(text, from) {
      if (credentialLookup(text, prefix) === undefined) throw invalid()
      const found = await cache.find(digest(text))
      if (found === undefined) throw invalid()
      const principal = principalOf(found, now())
      const { cidrs, id } = found.token
      if (
        cidrs !== undefined &&
        !cidrs.some((cidr) => cidrContains(parseCidr(cidr), from.address))
      ) {
        throw new Problem(
          'address_not_allowed',
          'This access token may not be used from your address.',
        )
      }
      noteUse(id, from)
      return principal
    },
    async isGood({ tokenId, organization, permissions }) {
      const found = await accessTokens.findKnown(store, organization?.id, tokenId)
      if (found === undefined) return false
      try {
        const left = principalOf(found, now()).permissions
        return permissions.every((permission) => left.includes(permission))
      } catch (error) {
        if (error instanceof Problem) return false
        throw error
      }
    },
    async announceExpiring() {
      return await store.transaction(async (tx) => {
        const before = tx.now + expiringWithinMs
        const found = await accessTokens.takeExpiring(tx, before, announcedAtOnce)
        for (const token of found) if (token.organizationId !== undefined) expiring(tx, token)
        return found.length
      })
    },
  }

  /** At most once a minute; nobody waits for it, and the next minute notes it again. */
  function noteUse(id: string, from: { address: string; agent?: string | undefined }): void {
    const at = clock.now()
    if (at - (notedAt.get(id) ?? 0) < noteUseEveryMs) return
    if (notedAt.size > maxRemembered) notedAt.clear()
    notedAt.set(id, at)
    const use = { id, at, address: from.address, agent: from.agent?.slice(0, maxAgentLength) }
    store.transaction(async (tx) => await accessTokens.noteUse(tx, use)).catch(() => undefined)
  }
}

/** What a token may do at this moment: revoked, expired, and without a maker it may do nothing. */
function principalOf(known: KnownAccessToken, nowMs: number): TokenPrincipal {
  const { token, organizationSlug, creatorRole } = known
  if (token.revokedAt !== undefined) {
    throw new Problem('credential_revoked', 'The access token was revoked.')
  }
  if (token.expiresAt !== undefined && token.expiresAt <= nowMs) {
    throw new Problem('credential_expired', 'The access token has expired.')
  }
  const granted = token.permissions as readonly Permission[]
  const { organizationId, creatorUserId } = token
  if (organizationId === undefined) {
    return { ...namesOf(token), organization: undefined, permissions: [] }
  }
  // Never the operator's by mistake: a token of an organization that has gone is no token.
  if (organizationSlug === undefined) throw invalid()
  if (creatorUserId !== undefined && creatorRole === undefined) {
    throw new Problem(
      'credential_revoked',
      'The member who issued this access token is no longer in the organization.',
    )
  }
  const bound = creatorUserId === undefined ? granted : permissionsOf(creatorRole as Role)
  return {
    ...namesOf(token),
    organization: { id: organizationId, slug: organizationSlug },
    permissions: granted.filter((permission) => bound.includes(permission)),
  }
}

function namesOf({ id, name, hint, creatorUserId, cidrs }: AccessTokenRecord) {
  return { kind: 'token', tokenId: id, name, hint, boundTo: creatorUserId, cidrs } as const
}

function announce(
  tx: Tx,
  what: { change: 'issued' | 'revoked'; token: AccessTokenRecord; actor: Actor },
): void {
  const { change, token, actor } = what
  const { organizationId, id, name, hint, permissions } = token
  record(tx, {
    organizationId: organizationId ?? 'system',
    actor,
    action: `access_token.${change}`,
    subject: { kind: 'access_token', id },
    detail: { name, hint, permissions, expires_at: isoTime(token.expiresAt) },
  })
  if (organizationId !== undefined) {
    publish(tx, { organizationId, type: `access_token.${change}`, data: dataOf(token) })
  }
  tx.changed({
    kind: 'access_token',
    organizationId: organizationId ?? 'system',
    subjectId: id,
  })
}

function expiring(tx: Tx, token: AccessTokenRecord): void {
  const { organizationId } = token
  if (organizationId === undefined) return
  publish(tx, { organizationId, type: 'access_token.expiring', data: dataOf(token) })
}

function dataOf({ id, name, hint, expiresAt }: AccessTokenRecord) {
  return { token_id: id, name, hint, expires_at: isoTime(expiresAt) }
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function invalid(): Problem {
  return new Problem('credential_invalid', 'The access token is not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="intercept"' },
  })
}
