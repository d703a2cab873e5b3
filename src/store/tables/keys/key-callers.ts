import type { KeyId, OrganizationId } from '../../../ids.ts'
import { limitLocks } from '../../db/brief-locks.ts'
import { besideIds } from '../../db/beside-ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { listColumns } from '../calls/calls.ts'

export interface KeyStragglerTable {
  digest: string
  address: string
  agent: string
  organization_id: string
  key_id: string
  target_id: string | null
  calls: number
  first_seen_at: number
  last_seen_at: number
}

/** One caller's calls with one old secret of a key. */
export interface OldSecretUse {
  readonly organizationId: OrganizationId
  readonly keyId: KeyId
  readonly digest: string
  readonly address: string
  readonly agent: string
  readonly targetId: string | undefined
  readonly calls: number
  readonly firstSeenAt: number
  readonly lastSeenAt: number
}

/** A caller of a key, identified by address and user agent. */
export interface KeyCaller {
  readonly address: string
  readonly agent: string | undefined
  /** The target of one of the caller's latest calls, if known. */
  readonly targetId: string | undefined
  readonly calls: number
  readonly lastSeenAt: number
}

// A caller may change its user agent with every call, so the number of rows per secret is limited.
const maxPerSecret = 200

/** Records the callers that used old secrets; once a secret has 200 callers, further ones are not recorded. */
export async function noteOldSecretUses(tx: Tx, uses: readonly OldSecretUse[]): Promise<void> {
  await limitLocks(tx)
  for (const use of uses) {
    if (await addTo(tx, use)) continue
    const { known } = await tx.query
      .selectFrom('key_straggler')
      .select((eb) => eb.fn.countAll<number>().as('known'))
      .where('digest', '=', use.digest)
      .where(besideIds(tx, use.organizationId))
      .executeTakeFirstOrThrow()
    if (known >= maxPerSecret) continue
    await tx.query
      .insertInto('key_straggler')
      .values({
        digest: use.digest,
        address: use.address,
        agent: use.agent,
        organization_id: use.organizationId,
        key_id: use.keyId,
        target_id: use.targetId ?? null,
        calls: use.calls,
        first_seen_at: use.firstSeenAt,
        last_seen_at: use.lastSeenAt,
      })
      .onConflict((conflict) =>
        conflict.columns(['digest', 'address', 'agent']).doUpdateSet((eb) => ({
          calls: eb('key_straggler.calls', '+', use.calls),
          last_seen_at: use.lastSeenAt,
        })),
      )
      .execute()
  }
}

/** Adds calls to the caller's existing row; returns whether there is one. */
async function addTo(tx: Tx, use: OldSecretUse): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('key_straggler')
    .set((eb) => ({
      calls: eb('calls', '+', use.calls),
      last_seen_at: use.lastSeenAt,
      target_id: use.targetId ?? null,
    }))
    .where(besideIds(tx, use.organizationId))
    .where('digest', '=', use.digest)
    .where('address', '=', use.address)
    .where('agent', '=', use.agent)
    .executeTakeFirst()
  return Number(numUpdatedRows) > 0
}

/** Lists up to 200 callers that used an old but still valid secret of a key, most recent first. */
export async function listOldSecretCallers(
  db: Db,
  {
    organizationId,
    keyId,
    nowMs,
  }: {
    readonly organizationId: OrganizationId
    readonly keyId: KeyId
    readonly nowMs: number
  },
): Promise<(KeyCaller & { readonly hint: string; readonly firstSeenAt: number })[]> {
  const rows = await db.query
    .selectFrom('key_straggler as straggler')
    .innerJoin('key_secret as secret', 'secret.digest', 'straggler.digest')
    .selectAll('straggler')
    .select('secret.hint')
    .where('straggler.organization_id', '=', organizationId)
    .where('straggler.key_id', '=', keyId)
    .where('secret.valid_until', '>', nowMs)
    .orderBy('straggler.last_seen_at', 'desc')
    .orderBy('straggler.address')
    .orderBy('straggler.agent')
    .limit(maxPerSecret)
    .execute()
  return rows.map((row) => ({
    hint: row.hint,
    address: row.address,
    agent: row.agent === '' ? undefined : row.agent,
    targetId: row.target_id ?? undefined,
    calls: row.calls,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  }))
}

/** Lists the callers of a key's newest `most` calls, most recent first; `of` is the number of calls examined. */
export async function listRecent(
  calls: Db,
  {
    organizationId,
    keyId,
    most,
  }: {
    readonly organizationId: OrganizationId
    readonly keyId: KeyId
    readonly most: number
  },
): Promise<{ readonly of: number; readonly callers: readonly KeyCaller[] }> {
  const columns = ['at', 'address', 'agent', 'target_id'] as const
  const order = { filter: { keyId }, limit: most, columns }
  const recent = await listColumns(calls, organizationId, order)
  const callers = new Map<string, KeyCaller>()
  for (const row of recent) {
    const name = JSON.stringify([row.address, row.agent])
    const known = callers.get(name)
    callers.set(name, {
      address: row.address,
      agent: row.agent ?? undefined,
      targetId: known?.targetId ?? row.target_id ?? undefined,
      calls: (known?.calls ?? 0) + 1,
      lastSeenAt: known?.lastSeenAt ?? row.at,
    })
  }
  return { of: recent.length, callers: [...callers.values()] }
}

export async function forgetOldSecretCallers(tx: Tx, before: number): Promise<void> {
  await tx.query.deleteFrom('key_straggler').where('last_seen_at', '<', before).execute()
}
