import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId, type KeyId, type OrganizationId, type UserId } from '../ids.ts'
import { digest, mintCredential, type Secret } from '../secrets/index.ts'
import {
  keyCallers,
  keyLookUp,
  keyNames,
  keys,
  keySecrets,
  type Actor,
  type Confirmation,
  type KeyRecord,
  type KeySecretRecord,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { withKeyDefaults, type IssueInput } from './key-defaults.ts'
import { checkInput, type KeyInput, checkGrantedTargets } from './key-input.ts'
import { schemeOfKey, schemes } from './schemes.ts'

/** A key with its secrets, newest first; the first is the current one. */
export interface Key extends KeyRecord {
  readonly secrets: readonly KeySecretRecord[]
}

/** Keys of organizations: issue, rotate, revoke, look at. */
export interface Keys {
  /**
   * What the wish leaves open is the organization's default. `invalid_input` for values that make no sense. The
   * secret is in this answer and nowhere else.
   */
  issue(
    organizationId: OrganizationId,
    wish: IssueInput & { personalUserId?: UserId | undefined },
    actor: Actor,
  ): Promise<{ key: Key; secret: Secret }>
  /** Changes a key; `not_found`, `version_conflict`, `invalid_input`. */
  edit(
    organizationId: OrganizationId,
    id: string,
    wish: KeyInput,
    actor: Actor,
    expectedVersion?: number,
  ): Promise<Key>
  /** A new secret; the old one stays valid for `overlapMs`. `not_found`; `conflict` for a revoked key. */
  rotate(
    organizationId: OrganizationId,
    id: string,
    overlapMs: number,
    actor: Actor,
  ): Promise<{ key: Key; secret: Secret; confirmation: Confirmation }>
  /** Ends older secrets at once. `not_found`. */
  endOldSecret(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<{ key: Key; confirmation: Confirmation }>
  /** Revokes for good; answers when every node refuses the key. `not_found`; a revoked key stays revoked. */
  revoke(
    organizationId: OrganizationId,
    id: string,
    actor: Actor,
  ): Promise<{ key: Key; confirmation: Confirmation }>
  /** Revokes the living key that a found secret belongs to; whoever holds the secret may. */
  revokeLeaked(secret: string, finder: Pick<Actor, 'address' | 'requestId'>): Promise<void>
  find(organizationId: OrganizationId, id: string): Promise<Key | undefined>
  /** `not_found`. */
  get(organizationId: OrganizationId, id: string): Promise<Key>
  /** Who made its newest calls, and who still calls with an old secret that overlaps. `not_found`. */
  callers(
    organizationId: OrganizationId,
    id: string,
  ): Promise<{
    readonly recent: Awaited<ReturnType<typeof keyCallers.listRecent>>
    readonly stragglers: Awaited<ReturnType<typeof keyCallers.listStragglers>>
  }>
  list(
    organizationId: OrganizationId,
    page: Omit<Parameters<typeof keys.list>[2], 'nowMs'>,
  ): Promise<Key[]>
  /** What keys with these ids are called, and the hints of their secrets. */
  names(
    organizationId: OrganizationId,
    ids: readonly KeyId[],
  ): Promise<ReadonlyMap<string, { readonly name: string; readonly hint: string }>>
  /** Whose key it is; for the operator, who names keys without their organization. `not_found`. */
  organizationOf(id: string): Promise<OrganizationId>
  /** Announces keys whose end has come; returns how many. */
  announceExpired(): Promise<number>
  /** Announces old secrets that overlap and that nobody has used for an hour; returns how many. */
  announceSilent(): Promise<number>
}

/** Opens the keys' rules. */
export function createKeys(deps: { store: Store; clock: Clock }): Keys {
  const { store, clock } = deps

  async function get(organizationId: OrganizationId, id: string): Promise<Key> {
    const key = await keys.find(store, organizationId, id)
    if (!key) throw notFound(id)
    return await withSecrets(key)
  }

  async function withSecrets(key: KeyRecord): Promise<Key> {
    const secrets = await keySecrets.list(store, key.organizationId, [key.id])
    return { ...key, secrets: secrets.get(key.id) ?? [] }
  }

  return {
    get,
    async find(organizationId, id) {
      const key = await keys.find(store, organizationId, id)
      return key && (await withSecrets(key))
    },
    async issue(organizationId, asked, actor) {
      const wish = await withKeyDefaults(store, organizationId, asked, clock.now())
      const checked = checkInput(wish, clock.now())
      const minted = mintCredential(schemes[wish.scheme].prefix)
      const id = createId('key', clock.now())
      const key = await store.transaction(async (tx) => {
        await checkGrantedTargets(tx, organizationId, checked.grants)
        const issued = await keys.insert(tx, {
          ...checked,
          id,
          organizationId,
          scheme: wish.scheme,
          createdBy: actor.id,
          personalUserId: asked.personalUserId,
        })
        await addSecret(tx, issued, minted)
        announce(tx, 'issued', issued, actor, { ...describe(issued), hint: minted.secret.hint })
        return issued
      })
      return { key: await withSecrets(key), secret: minted.secret }
    },
    async edit(organizationId, id, wish, actor, expectedVersion) {
      const checked = checkInput(wish, clock.now())
      const edited = await store.transactionConfirmed(async (tx) => {
        const before = await getLiving(tx, organizationId, id)
        await checkGrantedTargets(tx, organizationId, checked.grants, before.grants)
        const key = await keys.update(tx, before, { ...checked, expectedVersion })
        if (!key) throw new Problem('version_conflict', `Key ${id} was changed in the meantime.`)
        recordChange(tx, 'edited', key, actor, { before: describe(before), after: describe(key) })
        return key
      })
      return await withSecrets(edited.result)
    },
    async rotate(organizationId, id, overlapMs, actor) {
      if (!Number.isSafeInteger(overlapMs) || overlapMs < 0 || overlapMs > maxOverlapMs) {
        throw new Problem('invalid_input', 'The overlap is between 0 and 90 days.')
      }
      const rotated = await store.transactionConfirmed(async (tx) => {
        const key = await getLiving(tx, organizationId, id)
        const minted = mintCredential(schemes[key.scheme].prefix)
        await keySecrets.end(tx, {
          organizationId,
          keyId: key.id,
          which: 'older',
          validUntil: tx.now,
        })
        await keySecrets.end(tx, {
          organizationId,
          keyId: key.id,
          which: 'current',
          validUntil: tx.now + overlapMs,
        })
        await addSecret(tx, key, minted)
        announce(tx, 'rotated', key, actor, {
          name: key.name,
          hint: minted.secret.hint,
          old_secret_valid_until: new Date(tx.now + overlapMs).toISOString(),
        })
        return { key, secret: minted.secret }
      })
      const { key, secret } = rotated.result
      return { key: await withSecrets(key), secret, confirmation: rotated.confirmation }
    },
    async endOldSecret(organizationId, id, actor) {
      const { result, confirmation } = await store.transactionConfirmed(async (tx) => {
        const key = await getLiving(tx, organizationId, id)
        const ended = await keySecrets.end(tx, {
          organizationId,
          keyId: key.id,
          which: 'older',
          validUntil: tx.now,
        })
        if (ended > 0) recordChange(tx, 'old_secret_ended', key, actor, { name: key.name })
        return key
      })
      return { key: await withSecrets(result), confirmation }
    },
    async revoke(organizationId, id, actor) {
      const { result, confirmation } = await store.transactionConfirmed(async (tx) => {
        const revoked = await keys.revoke(tx, {
          organizationId,
          id: id as KeyId,
          revokedBy: actor.id ?? actor.kind,
        })
        if (!revoked) return await getAny(tx, organizationId, id)
        announce(tx, 'revoked', revoked, actor, { name: revoked.name })
        return revoked
      })
      return { key: await withSecrets(result), confirmation }
    },
    async revokeLeaked(secret, finder) {
      // Shape and checksum first: what is no key of ours asks the database nothing.
      if (schemeOfKey(secret) === undefined) return
      const found = await keyLookUp.findByDigest(store, digest(secret))
      if (!found || found.key.revokedAt !== undefined) return
      const { organizationId, id, name } = found.key
      const actor: Actor = { ...finder, kind: 'key', id, name }
      await store.transactionConfirmed(async (tx) => {
        const revoked = await keys.revoke(tx, { organizationId, id, revokedBy: 'leaked' })
        if (!revoked) return
        announce(tx, 'revoked', revoked, actor, { name, reason: 'leaked' })
        publish(tx, {
          organizationId,
          type: 'api_key.leaked',
          data: { key_id: id, name, hint: found.secret.hint },
        })
      })
    },
    async callers(organizationId, id) {
      const { id: keyId } = await get(organizationId, id)
      return {
        recent: await keyCallers.listRecent(store.slowCallReads, {
          organizationId,
          keyId,
          most: callsLookedAt,
        }),
        stragglers: await keyCallers.listStragglers(store, {
          organizationId,
          keyId,
          nowMs: clock.now(),
        }),
      }
    },
    async list(organizationId, page) {
      const at = store.slowReads
      const found = await keys.list(at, organizationId, { ...page, nowMs: clock.now() })
      const secrets = await keySecrets.list(
        at,
        organizationId,
        found.map((key) => key.id),
      )
      return found.map((key) => ({ ...key, secrets: secrets.get(key.id) ?? [] }))
    },
    names: async (organizationId, ids) => await keyNames.list(store.slowReads, organizationId, ids),
    async organizationOf(id) {
      const organizationId = await keys.organizationOf(store, id)
      if (organizationId === undefined) {
        throw new Problem('not_found', `There is no key ${id.slice(0, 40)}.`)
      }
      return organizationId
    },
    async announceExpired() {
      return await store.transaction(async (tx) => {
        const expired = await keys.takeExpired(tx, announcedAtOnce)
        for (const key of expired) {
          announce(tx, 'expired', key, { kind: 'system' }, { name: key.name })
        }
        return expired.length
      })
    },
    async announceSilent() {
      return await store.transaction(async (tx) => {
        const silent = await keySecrets.takeSilent(tx, tx.now - silentAfterMs, announcedAtOnce)
        for (const secret of silent) {
          publish(tx, {
            organizationId: secret.organizationId,
            type: 'api_key.old_secret_silent',
            data: {
              key_id: secret.keyId,
              hint: secret.hint,
              last_used_at: secret.lastUsedAt ? new Date(secret.lastUsedAt).toISOString() : null,
              valid_until: new Date(secret.validUntil).toISOString(),
            },
          })
        }
        return silent.length
      })
    },
  }
}

const maxOverlapMs = 90 * 24 * 3600 * 1000
const announcedAtOnce = 100
const callsLookedAt = 1000
const silentAfterMs = 3_600_000

async function addSecret(
  tx: Tx,
  key: KeyRecord,
  minted: { secret: Secret; lookup: string },
): Promise<void> {
  await keySecrets.insert(tx, {
    digest: digest(minted.secret.reveal()),
    keyId: key.id,
    organizationId: key.organizationId,
    lookup: minted.lookup,
    hint: minted.secret.hint,
  })
}

/** Audit entry, event and change of one happening. */
function announce(
  tx: Tx,
  verb: 'issued' | 'rotated' | 'revoked' | 'expired',
  key: KeyRecord,
  actor: Actor,
  detail: Record<string, unknown>,
): void {
  recordChange(tx, verb, key, actor, detail)
  publish(tx, {
    organizationId: key.organizationId,
    type: `api_key.${verb}`,
    data: { key_id: key.id, name: key.name, ...detail },
  })
}

function recordChange(
  tx: Tx,
  verb: string,
  key: KeyRecord,
  actor: Actor,
  detail: Record<string, unknown>,
): void {
  record(tx, {
    organizationId: key.organizationId,
    actor,
    action: `api_key.${verb}`,
    subject: { kind: 'api_key', id: key.id },
    detail,
  })
  tx.changed({ kind: 'key', organizationId: key.organizationId, subjectId: key.id })
}

function describe(key: KeyRecord): Record<string, unknown> {
  return { ...keys.describe(key), grants: key.grants ?? 'all', cidrs: key.cidrs ?? 'all' }
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
