import { credentialFormats } from '../credential-formats.ts'
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type Id, type OrganizationId } from '../ids.ts'
import { credentialLookup, digest, mintCredential, type Secret } from '../secrets/index.ts'
import {
  directoryCounts,
  directoryTokens,
  type Actor,
  type DirectoryTokenRecord,
  type Plan,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'
import { createTokenCache } from './token-cache.ts'

const { prefix } = credentialFormats.scimToken
const maxNameLength = 100
const noteUseEveryMs = 60_000

/** A directory that calls, proven by its token. */
export interface DirectoryPrincipal {
  readonly kind: 'directory'
  readonly organizationId: OrganizationId
  readonly organizationSlug: string
  readonly tokenId: Id<'tok'>
  readonly name: string
}

/** A token of an organization that opens nothing any more, or not on its plan. */
export class RefusedToken extends Problem {
  readonly owner: Pick<DirectoryPrincipal, 'organizationId' | 'tokenId'> | undefined

  constructor(refusal: Problem, owner: RefusedToken['owner']) {
    super(refusal.code, refusal.message)
    this.owner = owner
  }
}

/** SCIM bearer tokens: issue, list, revoke, identify. */
export interface DirectoryTokens {
  /** `plan_required`, `invalid_input`, `conflict` when as many are active as may be. The secret is in this answer and nowhere else. */
  issue(
    organization: { id: OrganizationId; plan: Plan },
    wish: { name: string },
    actor: Actor,
  ): Promise<{ token: DirectoryTokenRecord; secret: Secret }>
  /** Newest first, revoked ones too. */
  list(organizationId: OrganizationId): Promise<DirectoryTokenRecord[]>
  /** From the next request on it opens nothing. `not_found`. */
  revoke(organizationId: OrganizationId, id: string, actor: Actor): Promise<DirectoryTokenRecord>
  /** Revokes the token that this is, by whoever holds it; undefined if it is none of ours. */
  revokeSecret(text: string, actor: Actor): Promise<DirectoryTokenRecord | undefined>
  /**
   * Whose token this is; `credential_invalid` for any that is unknown or revoked, `plan_required`. The refusal of one
   * that was the organization's says whose it was, at most once a minute for each token.
   */
  identify(
    text: string,
    from: { address?: string | undefined; agent?: string | undefined },
  ): Promise<DirectoryPrincipal>
  /**
   * Does a work for a directory's token, unless that has lost its force since it was let in: requests and operations
   * that wait for their turn end with it. Others than directories are not asked.
   */
  whileGood<T>(
    tx: Tx,
    organizationId: OrganizationId,
    actor: Actor,
    work: () => Promise<T>,
  ): Promise<T>
}

/** Opens the tokens' rules. */
export function createDirectoryTokens(deps: {
  store: Store
  clock: Clock
  maxTokens: number
}): DirectoryTokens {
  const { store, clock } = deps
  const cache = createTokenCache(store)
  const notedAt = new Map<string, number>()
  const refusedAt = new Map<string, number>()

  async function revoke(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<DirectoryTokenRecord> {
    const { result } = await store.transactionConfirmed(async (tx) => {
      // What its requests are just writing comes before.
      await directoryCounts.hold(tx, organizationId)
      const token = await directoryTokens.revoke(tx, { organizationId, id, revokedBy: actor.id })
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

  return {
    revoke,
    async issue(organization, wish, actor) {
      requirePlan(organization.plan)
      const name = wish.name.trim()
      if (name === '' || name.length > maxNameLength) {
        throw new Problem('invalid_input', `A name has 1 to ${maxNameLength} characters.`)
      }
      const { secret } = mintCredential(prefix)
      const token = await store.transaction(async (tx) => {
        await directoryCounts.ensure(tx, organization.id)
        const issued = await directoryTokens.insert(
          tx,
          {
            id: createId('tok', clock.now()),
            organizationId: organization.id,
            name,
            hint: secret.hint,
            createdBy: actor.id,
            digest: digest(secret.reveal()),
          },
          deps.maxTokens,
        )
        if (!issued) {
          throw new Problem(
            'conflict',
            `${deps.maxTokens} SCIM tokens are active. Revoke one before issuing another.`,
          )
        }
        record(tx, { ...entry(issued, actor), action: 'scim_token.issued' })
        publish(tx, {
          organizationId: organization.id,
          type: 'scim.token_issued',
          data: { token_id: issued.id, name, hint: issued.hint },
        })
        return issued
      })
      return { token, secret }
    },
    list: async (organizationId) => await directoryTokens.list(store, organizationId),
    async revokeSecret(text, actor) {
      if (credentialLookup(text, prefix) === undefined) return undefined
      const found = await directoryTokens.findByDigest(store, digest(text))
      if (!found || found.token.revokedAt !== undefined) return undefined
      return await revoke(found.token.organizationId, found.token.id, actor)
    },
    async identify(text, from) {
      if (credentialLookup(text, prefix) === undefined) throw invalid()
      const found = await cache.find(digest(text))
      if (!found) throw invalid()
      if (found.token.revokedAt !== undefined) throw refused(found.token, invalid())
      if (found.plan !== 'enterprise') throw refused(found.token, planRequired())
      noteUse(found.token.id, from)
      return {
        kind: 'directory',
        organizationId: found.token.organizationId,
        organizationSlug: found.slug,
        tokenId: found.token.id,
        name: found.token.name,
      }
    },
    async whileGood(tx, organizationId, actor, work) {
      if (actor.kind !== 'directory') return await work()
      await requireGood(tx, organizationId, actor)
      const done = await work()
      // It may have been revoked while the work waited for a lock.
      await requireGood(tx, organizationId, actor)
      return done
    },
  }

  // Who holds a revoked token must not be able to push everything else out of the request log.
  function refused(token: DirectoryTokenRecord, refusal: Problem): Problem {
    const { organizationId, id: tokenId } = token
    const isDue = isFirstInMinute(refusedAt, tokenId)
    return new RefusedToken(refusal, isDue ? { organizationId, tokenId } : undefined)
  }

  function isFirstInMinute(times: Map<string, number>, id: string): boolean {
    const at = clock.now()
    if (at - (times.get(id) ?? 0) < noteUseEveryMs) return false
    if (times.size > 10_000) times.clear()
    times.set(id, at)
    return true
  }

  async function requireGood(tx: Tx, organizationId: OrganizationId, actor: Actor): Promise<void> {
    const found = await cache.findAgain(tx, organizationId, actor.id ?? '')
    if (!found) throw invalid()
    requirePlan(found.plan)
  }

  function noteUse(
    id: string,
    from: { address?: string | undefined; agent?: string | undefined },
  ): void {
    if (!isFirstInMinute(notedAt, id)) return
    const use = { id, at: clock.now(), address: from.address, agent: from.agent?.slice(0, 300) }
    // Nobody waits for it: the next minute notes it again.
    store.transaction(async (tx) => await directoryTokens.noteUse(tx, use)).catch(() => undefined)
  }
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
