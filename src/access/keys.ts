import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type KeyId, type OrganizationId } from '../ids.ts'
import { digest, mintCredential, type Secret } from '../secrets/index.ts'
import {
  keyCallers,
  keyLookUp,
  keyNames,
  keys,
  keySecrets,
  limitLocks,
  organizations,
  type Actor,
  type Confirmation,
  type KeyRecord,
  type KeySecretRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { readKeyDefaults, withKeyDefaults, type IssueInput } from './key-defaults.ts'
import { checkGrantedTargets, checkInput, type KeyInput } from './key-input.ts'
import { announce, describe, recordChange } from './key-news.ts'
import { publicIdIn, schemeOfKey, schemes } from './schemes.ts'
import { dayMs, hourMs } from '../units.ts'

/** A key with its secrets, newest first; the first is the current one. */
export interface Key extends KeyRecord {
  readonly secrets: readonly KeySecretRecord[]
}

interface ConfirmedKey {
  readonly key: Key
  readonly confirmation: Confirmation
}

export class Keys {
  readonly #store: Store
  readonly #clock: Clock

  constructor({ store, clock }: { readonly store: Store; readonly clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** Issues a key, whose secret can never be read again. Throws `invalid_input`. */
  async issue(
    organizationId: OrganizationId,
    input: IssueInput,
    actor: Actor,
  ): Promise<{ key: Key; secret: Secret }> {
    const now = this.#clock.now()
    const organization = await organizations.find(this.#store, organizationId)
    const defaults = readKeyDefaults(organization?.settings ?? {})
    const { scheme, ...asked } = withKeyDefaults(input, defaults, now)
    const checked = checkInput(asked, now)
    const id = createId('key', now)
    const { key, secret } = await this.#store.transaction(async (tx) => {
      const { grants } = checked
      await checkGrantedTargets(tx, { organizationId, grants })
      const key = await keys.insert(tx, {
        ...checked,
        ...{ id, organizationId, scheme },
        createdBy: actor.id,
        personalUserId: input.personalUserId,
      })
      const secret = await addSecret(tx, key)
      const detail = { ...describe(key), hint: secret.hint }
      announce(tx, key, { change: 'issued', actor, detail })
      return { key, secret }
    })
    return { key: await this.#withSecrets(key), secret }
  }

  /** Edits a key; throws `not_found`, `version_conflict`, `invalid_input`, or `conflict` for a revoked key. */
  async edit(
    organizationId: OrganizationId,
    id: string,
    edit: { input: KeyInput; actor: Actor; expectedVersion?: number | undefined },
  ): Promise<Key> {
    const { input, actor, expectedVersion } = edit
    const checked = checkInput(input, this.#clock.now())
    const { key } = await this.#confirm(async (tx) => {
      const before = await getLiving(tx, organizationId, id)
      const { grants } = checked
      await checkGrantedTargets(tx, { organizationId, grants, before: before.grants })
      const after = await keys.update(tx, before, { ...checked, expectedVersion })
      if (!after) throw new Problem('version_conflict', `Key ${id} was changed in the meantime.`)
      const detail = { before: describe(before), after: describe(after) }
      recordChange(tx, after, { change: 'edited', actor, detail })
      return after
    })
    return key
  }

  /**
   * Adds a new secret; the previous one stays valid for `overlapMs`, and any older one ends immediately. Throws
   * `not_found`, `conflict` for a revoked key, or `invalid_input` unless the overlap is between 0 and 90 days.
   */
  async rotate(
    organizationId: OrganizationId,
    id: string,
    { overlapMs, actor }: { overlapMs: number; actor: Actor },
  ): Promise<ConfirmedKey & { readonly secret: Secret }> {
    if (!Number.isSafeInteger(overlapMs) || overlapMs < 0 || overlapMs > maxOverlapMs) {
      throw new Problem('invalid_input', 'The overlap is between 0 and 90 days.')
    }
    const { result, confirmation } = await this.#store.transactionConfirmed(async (tx) => {
      const key = await getLiving(tx, organizationId, id)
      const secrets = { organizationId, keyId: key.id }
      const validUntil = tx.now + overlapMs
      await keySecrets.end(tx, { ...secrets, which: 'older', validUntil: tx.now })
      await keySecrets.end(tx, { ...secrets, which: 'current', validUntil })
      const secret = await addSecret(tx, key)
      const old_secret_valid_until = new Date(validUntil).toISOString()
      const detail = { hint: secret.hint, old_secret_valid_until }
      announce(tx, key, { change: 'rotated', actor, detail })
      return { key, secret }
    })
    const { key, secret } = result
    return { key: await this.#withSecrets(key), secret, confirmation }
  }

  /** Immediately ends every secret except the current one. Throws `not_found`, or `conflict` for a revoked key. */
  async endOldSecret(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<ConfirmedKey> {
    return await this.#confirm(async (tx) => {
      const key = await getLiving(tx, organizationId, id)
      const older = { organizationId, keyId: key.id, which: 'older', validUntil: tx.now } as const
      const ended = await keySecrets.end(tx, older)
      const detail = { name: key.name }
      if (ended > 0) recordChange(tx, key, { change: 'old_secret_ended', actor, detail })
      return key
    })
  }

  /**
   * Revokes a key permanently, and resolves when every node refuses it; changes nothing if the key is already revoked.
   * Throws `not_found`.
   */
  async revoke(organizationId: OrganizationId, id: string, actor: Actor): Promise<ConfirmedKey> {
    return await this.#confirm(async (tx) => {
      const revokedBy = actor.id ?? actor.kind
      const revoked = await keys.revoke(tx, { organizationId, id: id as KeyId, revokedBy })
      if (!revoked) return await getAny(tx, organizationId, id)
      announce(tx, revoked, { change: 'revoked', actor })
      return revoked
    })
  }

  /**
   * Revokes the key that a leaked secret belongs to, unless it is revoked already; whoever holds the secret may do so.
   */
  async revokeLeaked(secret: string, finder: Pick<Actor, 'address' | 'requestId'>): Promise<void> {
    // A text without the shape and checksum of a key never reaches the database.
    if (schemeOfKey(secret) === undefined) return
    const found = await keyLookUp.findByDigest(this.#store, digest(secret))
    if (!found || found.key.revokedAt !== undefined) return
    const { organizationId, id, name } = found.key
    const actor: Actor = { ...finder, kind: 'key', id, name }
    await this.#store.transactionConfirmed(async (tx) => {
      const revoked = await keys.revoke(tx, { organizationId, id, revokedBy: 'leaked' })
      if (!revoked) return
      announce(tx, revoked, { change: 'revoked', actor, detail: { reason: 'leaked' } })
      publish(tx, {
        organizationId,
        type: 'api_key.leaked',
        data: { key_id: id, name, hint: found.secret.hint },
      })
    })
  }

  async find(organizationId: OrganizationId, id: string): Promise<Key | undefined> {
    const key = await keys.find(this.#store, organizationId, id)
    return key && (await this.#withSecrets(key))
  }

  /** Throws `not_found`. */
  async get(organizationId: OrganizationId, id: string): Promise<Key> {
    const key = await this.find(organizationId, id)
    if (!key) throw notFound(id)
    return key
  }

  /**
   * Returns who made a key's newest 1000 recorded calls, and who has used an old secret that is still valid. Throws
   * `not_found`.
   */
  async callers(organizationId: OrganizationId, id: string) {
    const { id: keyId } = await this.get(organizationId, id)
    const { slowCallReads } = this.#store
    const which = { organizationId, keyId }
    return {
      recent: await keyCallers.listRecent(slowCallReads, { ...which, most: callsLookedAt }),
      stragglers: await keyCallers.listOldSecretCallers(this.#store, {
        ...which,
        nowMs: this.#clock.now(),
      }),
    }
  }

  async list(
    organizationId: OrganizationId,
    page: Omit<Parameters<typeof keys.list>[2], 'nowMs' | 'publicId'>,
  ): Promise<Key[]> {
    const { slowReads } = this.#store
    const publicId = page.search === undefined ? undefined : publicIdIn(page.search)
    const asked = { ...page, publicId, nowMs: this.#clock.now() }
    const found = await keys.list(slowReads, organizationId, asked)
    const ids = found.map((key) => key.id)
    const secrets = await keySecrets.list(slowReads, organizationId, ids)
    return found.map((key) => ({ ...key, secrets: secrets.get(key.id) ?? [] }))
  }

  /** Maps the ids of keys to their names and the hints of their current secrets; unknown ids are left out. */
  async names(
    organizationId: OrganizationId,
    ids: readonly KeyId[],
  ): Promise<ReadonlyMap<string, { readonly name: string; readonly hint: string }>> {
    return await keyNames.list(this.#store.slowReads, organizationId, ids)
  }

  /** Returns the organization of a key, for the operator's commands, which name no organization. Throws `not_found`. */
  async organizationOf(id: string): Promise<OrganizationId> {
    const organizationId = await keys.organizationOf(this.#store, id)
    if (organizationId !== undefined) return organizationId
    throw new Problem('not_found', `There is no key ${id.slice(0, 40)}.`)
  }

  /** Announces up to 100 keys that have expired and have not been announced yet; returns how many. */
  async announceExpired(): Promise<number> {
    return await this.#store.transaction(async (tx) => {
      await limitLocks(tx)
      const expired = await keys.takeExpired(tx, announcedAtOnce)
      for (const key of expired) {
        announce(tx, key, { change: 'expired', actor: { kind: 'system' } })
      }
      return expired.length
    })
  }

  /**
   * Announces up to 100 old secrets that are still valid, were replaced more than an hour ago, and have not been used
   * in the last hour or announced before; returns how many.
   */
  async announceSilent(): Promise<number> {
    return await this.#store.transaction(async (tx) => {
      await limitLocks(tx)
      const silent = await keySecrets.takeSilent(tx, tx.now - silentAfterMs, announcedAtOnce)
      for (const { organizationId, keyId, hint, lastUsedAt, validUntil } of silent) {
        const last_used_at = lastUsedAt ? new Date(lastUsedAt).toISOString() : null
        const valid_until = new Date(validUntil).toISOString()
        const data = { key_id: keyId, hint, last_used_at, valid_until }
        publish(tx, { organizationId, type: 'api_key.old_secret_silent', data })
      }
      return silent.length
    })
  }

  async #confirm(change: (tx: Tx) => Promise<KeyRecord>): Promise<ConfirmedKey> {
    const { result, confirmation } = await this.#store.transactionConfirmed(change)
    return { key: await this.#withSecrets(result), confirmation }
  }

  async #withSecrets(key: KeyRecord): Promise<Key> {
    const secrets = await keySecrets.list(this.#store, key.organizationId, [key.id])
    return { ...key, secrets: secrets.get(key.id) ?? [] }
  }
}

const maxOverlapMs = 90 * dayMs
const announcedAtOnce = 100
const callsLookedAt = 1000
const silentAfterMs = hourMs

async function addSecret(tx: Tx, { id, organizationId, scheme }: KeyRecord): Promise<Secret> {
  const { secret, lookup } = mintCredential(schemes[scheme].prefix)
  await keySecrets.insert(tx, {
    digest: digest(secret.reveal()),
    keyId: id,
    organizationId,
    lookup,
    hint: secret.hint,
  })
  return secret
}

async function getAny(tx: Tx, organizationId: OrganizationId, id: string): Promise<KeyRecord> {
  const key = await keys.find(tx, organizationId, id)
  if (!key) throw notFound(id)
  return key
}

async function getLiving(tx: Tx, organizationId: OrganizationId, id: string): Promise<KeyRecord> {
  const key = await getAny(tx, organizationId, id)
  if (key.revokedAt !== undefined) {
    throw new Problem('conflict', `Key ${id} is revoked; a revoked key stays as it is.`)
  }
  return key
}

function notFound(id: string): Problem {
  return new Problem('not_found', `There is no key ${id.slice(0, 40)} in this organization.`)
}
