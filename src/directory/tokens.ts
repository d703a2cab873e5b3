import { credentialFormats } from '../credential-formats.ts'
import { record } from '../audit/index.ts'
import { hasPassed, type Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type OrganizationId } from '../ids.ts'
import { credentialLookup, digest, mintCredential, type Secret } from '../secrets/index.ts'
import {
  directoryCounts,
  directoryGroups,
  directoryTokens,
  type Actor,
  type DirectoryTokenRecord,
  type Plan,
  type Store,
} from '../store/index.ts'
import { requirePowerOfGroups } from '../organizations/index.ts'
import { publish } from '../webhooks/events/index.ts'
import type { DirectoryChange } from './change.ts'
import { tokensOfLeavers } from './token-issuers.ts'
import { createTokenCache, type TokenCache } from './token-cache.ts'
import { minuteMs } from '../units.ts'

const { prefix } = credentialFormats.scimToken
const maxNameLength = 100
const noteUseEveryMs = minuteMs

/** A directory authenticated by its token. */
export interface DirectoryPrincipal {
  readonly kind: 'directory'
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  readonly tokenId: Id<'tok'>
  readonly name: string
}

/** The refusal of a known SCIM token: it was revoked, or its organization's plan has no directory. */
export class RefusedToken extends Problem {
  readonly owner: Pick<DirectoryPrincipal, 'organizationId' | 'tokenId'> | undefined

  constructor(refusal: Problem, owner: RefusedToken['owner']) {
    super(refusal.code, refusal.message)
    this.owner = owner
  }
}

interface Origin {
  readonly address?: string | undefined
  readonly agent?: string | undefined
}

/** Issues, lists, revokes and authenticates SCIM bearer tokens. */
export class DirectoryTokens {
  readonly #store: Store
  readonly #clock: Clock
  readonly #maxTokens: number
  readonly #cache: TokenCache
  readonly #notedAt = new Map<string, number>()
  readonly #refusedAt = new Map<string, number>()

  constructor(deps: { store: Store; clock: Clock; maxTokens: number }) {
    this.#store = deps.store
    this.#clock = deps.clock
    this.#maxTokens = deps.maxTokens
    this.#cache = createTokenCache(deps.store)
  }

  /**
   * Issues a token; its secret is returned only here. Throws `plan_required`, `permission_required`, `invalid_input`,
   * or `conflict` at the maximum number of active tokens.
   */
  async issue(
    organization: { id: OrganizationId; plan: Plan },
    input: { name: string },
    actor: Actor,
  ): Promise<{ token: DirectoryTokenRecord; secret: Secret }> {
    requirePlan(organization.plan)
    const organizationId = organization.id
    const name = input.name.trim()
    if (name === '' || name.length > maxNameLength) {
      throw new Problem('invalid_input', `A name has 1 to ${maxNameLength} characters.`)
    }
    const { secret } = mintCredential(prefix)
    const { hint } = secret
    const id = createId('tok', this.#clock.now())
    const token = await this.#store.transaction(async (tx) => {
      await directoryCounts.ensure(tx, organizationId)
      // The token's holder can put people into groups and thereby grant the roles of those groups.
      const roles = await directoryGroups.listRoles(tx, organizationId)
      await requirePowerOfGroups(tx, { organizationId, actor }, roles)
      const row = { id, organizationId, name, hint, createdBy: actor.id }
      const issued = await directoryTokens.insert(
        tx,
        { ...row, digest: digest(secret.reveal()) },
        this.#maxTokens,
      )
      if (!issued) throw tooManyActive(this.#maxTokens)
      record(tx, { ...entry(issued, actor), action: 'scim_token.issued' })
      publish(tx, {
        organizationId,
        type: 'scim.token_issued',
        data: { token_id: issued.id, name, hint },
      })
      return issued
    })
    return { token, secret }
  }

  /** Lists tokens newest first, including revoked ones. */
  async list(organizationId: OrganizationId): Promise<DirectoryTokenRecord[]> {
    return await directoryTokens.list(this.#store, organizationId)
  }

  /** Returns the ids of active tokens whose issuers could no longer issue one; such tokens should be replaced. */
  async listOfLeavers(
    organizationId: OrganizationId,
    tokens: readonly DirectoryTokenRecord[],
  ): Promise<ReadonlySet<string>> {
    const nowMs = this.#clock.now()
    return await tokensOfLeavers(this.#store, organizationId, { tokens, nowMs })
  }

  /** Revokes a token; resolves when every node refuses it. Throws `not_found`. */
  async revoke(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<DirectoryTokenRecord> {
    const { result } = await this.#store.transactionConfirmed(async (tx) => {
      // Waits for writes of the token's own requests, so that none of them follows the revocation.
      await directoryCounts.hold(tx, organizationId)
      const token = await directoryTokens.revoke(tx, { organizationId, id }, actor.id)
      if (!token) throw new Problem('not_found', 'There is no such active SCIM token.')
      record(tx, { ...entry(token, actor), action: 'scim_token.revoked' })
      publish(tx, {
        organizationId,
        type: 'scim.token_revoked',
        data: { token_id: token.id, name: token.name, hint: token.hint },
      })
      tx.changed({ kind: 'directory', organizationId, subjectId: token.id })
      return token
    })
    return result
  }

  /** Revokes the token with this secret, whichever organization it belongs to; undefined if no active token has it. */
  async revokeSecret(text: string, actor: Actor): Promise<DirectoryTokenRecord | undefined> {
    if (credentialLookup(text, prefix) === undefined) return undefined
    const found = await directoryTokens.findByDigest(this.#store, digest(text))
    if (!found || found.token.revokedAt !== undefined) return undefined
    return await this.revoke(found.token.organizationId, found.token.id, actor)
  }

  /**
   * Authenticates a token. Throws `credential_invalid` if it is unknown or revoked, and `plan_required` if its
   * organization's plan has no directory.
   */
  async identify(text: string, from: Origin): Promise<DirectoryPrincipal> {
    if (credentialLookup(text, prefix) === undefined) throw invalid()
    const found = await this.#cache.find(digest(text))
    if (!found) throw invalid()
    if (found.token.revokedAt !== undefined) throw this.#refused(found.token, invalid())
    if (found.plan !== 'enterprise') throw this.#refused(found.token, planRequired())
    this.#noteUse(found.token.id, from)
    return {
      kind: 'directory',
      organizationId: found.token.organizationId,
      organizationSlug: found.slug,
      tokenId: found.token.id,
      name: found.token.name,
    }
  }

  /**
   * Performs a directory's change, unless its token has been revoked or its organization's plan no longer includes a
   * directory. The check is repeated here, so that a revocation also stops queued requests and bulk operations.
   */
  async whileGood<T>(change: DirectoryChange, work: () => Promise<T>): Promise<T> {
    if (change.actor.kind !== 'directory') return await work()
    await this.#requireGood(change)
    const done = await work()
    // The token may have been revoked while the change waited for a lock.
    await this.#requireGood(change)
    return done
  }

  async #requireGood({ tx, organizationId, actor }: DirectoryChange): Promise<void> {
    const found = await this.#cache.findAgain(tx, organizationId, actor.id ?? '')
    if (!found) throw invalid()
    requirePlan(found.plan)
  }

  // The refusal names the token's organization at most once a minute: that organization's request log then shows the
  // refusal, and the holder of a revoked token must not be able to push everything else out of the log.
  #refused(token: DirectoryTokenRecord, refusal: Problem): Problem {
    const { organizationId, id: tokenId } = token
    const isDue = this.#isFirstInMinute(this.#refusedAt, tokenId)
    return new RefusedToken(refusal, isDue ? { organizationId, tokenId } : undefined)
  }

  #isFirstInMinute(times: Map<string, number>, id: string): boolean {
    const at = this.#clock.now()
    if (!hasPassed(noteUseEveryMs, times.get(id), at)) return false
    if (times.size > 10_000) times.clear()
    times.set(id, at)
    return true
  }

  #noteUse(id: string, { address, agent }: Origin): void {
    if (!this.#isFirstInMinute(this.#notedAt, id)) return
    const use = { id, at: this.#clock.now(), address, agent: agent?.slice(0, 300) }
    // Not awaited: if this write is lost, a later use makes up for it.
    this.#store
      .transaction(async (tx) => await directoryTokens.noteUse(tx, use))
      .catch(() => undefined)
  }
}

function tooManyActive(most: number): Problem {
  return new Problem(
    'conflict',
    `${most} SCIM tokens are active. Revoke one before issuing another.`,
  )
}

function requirePlan(plan: Plan): void {
  if (plan !== 'enterprise') throw planRequired()
}

function planRequired(): Problem {
  return new Problem('plan_required', 'SCIM provisioning needs the plan enterprise.')
}

function entry(token: DirectoryTokenRecord, actor: Actor) {
  return {
    organizationId: token.organizationId,
    actor,
    subject: { kind: 'scim_token', id: token.id },
    detail: { name: token.name, hint: token.hint },
  }
}

function invalid(): Problem {
  return new Problem('credential_invalid', 'The SCIM token is not valid.')
}
