/** Access tokens (`svc_admin_…`), with which programs administer one organization or, as the operator, all of them. */
import { ForwardClock, hasPassed, type Clock } from '../clock.ts'
import { credentialFormats } from '../credential-formats.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import { credentialLookup, digest, mintCredential } from '../secrets/index.ts'
import {
  accessTokens,
  FeedCache,
  limitLocks,
  type AccessTokenId,
  type Actor,
  type KnownAccessToken,
  type Store,
} from '../store/index.ts'
import { checkTokenInput, type AccessTokenInput } from './access-token-input.ts'
import { issuerPower } from './access-token-issuer.ts'
import { announceExpiring, announceIssued, endTokens } from './access-token-news.ts'
import { cidrContains, parseCidr } from './key-fields/cidr.ts'
import type { Permission } from './permissions/permissions.ts'
import { permissionsOfToken, tokenFault } from './permissions/token-permissions.ts'
import { dayMs, minuteMs } from '../units.ts'

const { prefix } = credentialFormats.accessToken
const maxActive = 100
const maxRemembered = 10_000
const maxAgentLength = 300
const noteUseEveryMs = minuteMs
const expiringWithinMs = 14 * dayMs
const announcedAtOnce = 100

export interface TokenPrincipal {
  readonly kind: 'token'
  readonly tokenId: AccessTokenId
  readonly name: string
  readonly hint: string
  /** Undefined for a token of the operator. */
  readonly organization: { readonly id: OrganizationId; readonly slug: string } | undefined
  /** The addresses from which the token may be used; undefined = any. */
  readonly cidrs: readonly string[] | undefined
  /** What the token was given, limited by the role of the member it is bound to. */
  readonly permissions: readonly Permission[]
}

/** Without an organization, the issued token belongs to the operator. */
export interface TokenIssuer {
  readonly organization: { readonly id: OrganizationId } | undefined
  readonly actor: Actor
}

export class AccessTokens {
  readonly #store: Store
  readonly #clock: Clock
  readonly #forwardClock: ForwardClock
  readonly #cache: FeedCache<KnownAccessToken>
  readonly #notedAt = new Map<string, number>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
    this.#forwardClock = new ForwardClock(clock)
    this.#cache = new FeedCache<KnownAccessToken>({
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
  }

  /**
   * Issues a token, whose secret can never be read again. Throws `invalid_input`, `permission_required`, `conflict`, or
   * `credential_revoked` if the issuing token was revoked in the meantime.
   */
  async issue(input: AccessTokenInput, { organization, actor }: TokenIssuer) {
    const { secret } = mintCredential(prefix)
    const organizationId = organization?.id
    const token = await this.#store.transaction(async (tx) => {
      const { maker, boundTo } = await issuerPower(tx, organization, actor)
      const checked = checkTokenInput(input, maker, tx.now)
      if ((await accessTokens.countActive(tx, organizationId)) >= maxActive) {
        throw new Problem('conflict', `${maxActive} access tokens are active. Revoke one first.`)
      }
      const issued = await accessTokens.insert(tx, {
        ...checked,
        id: createId('tok', tx.now),
        organizationId,
        hint: secret.hint,
        createdBy: actor.id,
        creatorUserId: boundTo,
        digest: digest(secret.reveal()),
      })
      announceIssued(tx, issued, actor)
      return issued
    })
    return { token, secret }
  }

  /** Revokes the token and every token issued with it; resolves when every node refuses them. Throws `not_found`. */
  async revoke(
    which: { readonly organizationId: OrganizationId | undefined; readonly id: string },
    actor: Actor,
  ) {
    const { result, confirmation } = await this.#store.transactionConfirmed(async (tx) => {
      const [token, ...successors] = await accessTokens.revoke(tx, which, actor.id)
      if (!token) throw new Problem('not_found', 'There is no such active access token.')
      await endTokens(tx, [token, ...successors], actor)
      return token
    })
    return { token: result, confirmation }
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId | undefined, id: string) {
    const found = await accessTokens.findKnown(this.#store, organizationId, id)
    if (!found) throw new Problem('not_found', 'There is no such access token.')
    return found.token
  }

  /** Finds any token by its id, for the operator's commands, which name no organization. Throws `not_found`. */
  async find(id: string) {
    const token = await accessTokens.find(this.#store, id)
    if (!token) throw new Problem('not_found', `There is no access token ${id}.`)
    return token
  }

  /** Lists tokens, newest first, including revoked and expired ones. */
  async list(
    organizationId: OrganizationId | undefined,
    page: { readonly before?: string | undefined; readonly limit: number },
  ) {
    return await accessTokens.list(this.#store, organizationId, page)
  }

  /** Lists tokens that expire within two weeks, soonest first. */
  async listExpiring(organizationId: OrganizationId, limit: number) {
    const after = this.#clock.now()
    const between = { after, before: after + expiringWithinMs, limit }
    return await accessTokens.listExpiring(this.#store, organizationId, between)
  }

  /**
   * Revokes the token with this secret; whoever holds the secret may do so. Returns undefined if no token has this
   * secret or the token was already revoked.
   */
  async revokeSecret(text: string, actor: Actor) {
    if (credentialLookup(text, prefix) === undefined) return undefined
    const found = await accessTokens.findByDigest(this.#store, digest(text))
    if (!found || found.token.revokedAt !== undefined) return undefined
    const { organizationId, id } = found.token
    return (await this.revoke({ organizationId, id }, actor)).token
  }

  /**
   * Returns the principal of a token. Throws `credential_invalid`, `credential_revoked`, `credential_expired` (401), or
   * `address_not_allowed` (403).
   */
  async identify(
    text: string,
    from: { readonly address: string; readonly agent?: string | undefined },
  ) {
    if (credentialLookup(text, prefix) === undefined) throw invalid()
    const found = await this.#cache.find(digest(text))
    if (found === undefined) throw invalid()
    const principal = principalOf(found, this.#forwardClock.now())
    const { cidrs, id } = found.token
    if (cidrs !== undefined && !cidrs.some((cidr) => cidrContains(parseCidr(cidr), from.address))) {
      throw new Problem(
        'address_not_allowed',
        'This access token may not be used from your address.',
      )
    }
    this.#noteUse(id, from)
    return principal
  }

  /** Whether a token that was accepted earlier is still valid and still has every permission that it had then. */
  async isGood({ tokenId, organization, permissions }: TokenPrincipal) {
    const found = await accessTokens.findKnown(this.#store, organization?.id, tokenId)
    if (found === undefined || tokenFault(found, this.#forwardClock.now()) !== undefined)
      return false
    const left = permissionsOfToken(found, this.#forwardClock.now())
    return permissions.every((permission) => left.includes(permission))
  }

  /** Announces up to 100 tokens that expire within two weeks and have not been announced yet; returns how many. */
  async announceExpiring() {
    return await this.#store.transaction(async (tx) => {
      await limitLocks(tx)
      const before = tx.now + expiringWithinMs
      const found = await accessTokens.takeExpiring(tx, before, announcedAtOnce)
      for (const token of found) announceExpiring(tx, token)
      return found.length
    })
  }

  /** No request waits for the write; if it is lost, a later use makes up for it. */
  #noteUse(id: string, from: { address: string; agent?: string | undefined }): void {
    const at = this.#clock.now()
    if (!hasPassed(noteUseEveryMs, this.#notedAt.get(id), at)) return
    if (this.#notedAt.size > maxRemembered) this.#notedAt.clear()
    this.#notedAt.set(id, at)
    const use = { id, at, address: from.address, agent: from.agent?.slice(0, maxAgentLength) }
    this.#store
      .transaction(async (tx) => await accessTokens.noteUse(tx, use))
      .catch(() => undefined)
  }
}

function principalOf(known: KnownAccessToken, nowMs: number): TokenPrincipal {
  const { token, organizationSlug } = known
  const fault = tokenFault(known, nowMs)
  if (fault !== undefined) throw fault
  const { id, name, hint, cidrs, organizationId } = token
  const named = { kind: 'token', tokenId: id, name, hint, cidrs } as const
  if (organizationId === undefined) return { ...named, organization: undefined, permissions: [] }
  // A principal without an organization would be the operator.
  if (organizationSlug === undefined) throw invalid()
  return {
    ...named,
    organization: { id: organizationId, slug: organizationSlug },
    permissions: permissionsOfToken(known, nowMs),
  }
}

function invalid(): Problem {
  return new Problem('credential_invalid', 'The access token is not valid.', {
    headers: { 'WWW-Authenticate': 'Bearer realm="intercept"' },
  })
}
