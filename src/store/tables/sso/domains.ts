import type { Id, OrganizationId } from '../../../ids.ts'
import { columns, json, maybe, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { removeOwn } from '../../db/own-rows.ts'
import type { ConnectionId } from './connections.ts'

export interface DomainHolderTable {
  name: string
  domain_id: string
  organization_id: string
}

const declared = {
  id: text<Id<'dom'>>(),
  organizationId: text<OrganizationId>(),
  /** The name in lower-case ASCII (IDNA). */
  name: text(),
  challenge: text(),
  /** The connection for people with addresses in this domain; undefined means the organization's default. */
  connectionId: maybe(text<ConnectionId>()),
  createdAt: time(),
  verifiedAt: maybe(time()),
  verifiedBy: maybe(text<'dns' | 'operator'>()),
  lostAt: maybe(time()),
  checkedAt: maybe(time()),
  nextCheckAt: maybe(time()),
  seen: maybe(json<Readonly<Record<string, unknown>>>()),
}
const { fromRow, toRow } = columns(declared, {})

/**
 * A mail domain that an organization claims. It is verified by a proof in DNS or by the operator, and can be lost
 * again.
 */
export type DomainRecord = RecordOf<typeof declared>
export type DomainTable = TableOf<typeof declared>

/** Adds an unverified domain; undefined if the organization already has it. */
export async function insert(
  tx: Tx,
  domain: Pick<DomainRecord, 'id' | 'organizationId' | 'name' | 'challenge' | 'connectionId'> & {
    nextCheckAt: number
  },
): Promise<DomainRecord | undefined> {
  const row = await tx.query
    .insertInto('domain')
    .values(toRow({ ...domain, createdAt: tx.now }))
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Finds a domain by its id or name, but never another organization's. */
export async function find(
  db: Db,
  organizationId: string,
  idOrName: string,
): Promise<DomainRecord | undefined> {
  const row = await db.query
    .selectFrom('domain')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('id', '=', idOrName), eb('name', '=', idOrName)]))
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Finds the verified domain with this name, whichever organization holds it. */
export async function findHeld(db: Db, name: string): Promise<DomainRecord | undefined> {
  const row = await db.query
    .selectFrom('domain_holder')
    .innerJoin('domain', 'domain.id', 'domain_holder.domain_id')
    .selectAll('domain')
    .where('domain_holder.name', '=', name)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Lists up to 200 domains of an organization in the order of their names. */
export async function list(db: Db, organizationId: string): Promise<DomainRecord[]> {
  const rows = await db.query
    .selectFrom('domain')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .limit(200)
    .execute()
  return rows.map(fromRow)
}

/** Makes the organization the holder of the domain's name; false if another organization holds it. */
export async function hold(tx: Tx, domain: DomainRecord): Promise<boolean> {
  // A name that a deleted organization held is free again.
  await tx.query
    .deleteFrom('domain_holder')
    .where('name', '=', domain.name)
    .where('organization_id', 'in', (eb) =>
      eb.selectFrom('organization').select('id').where('deleted_at', 'is not', null),
    )
    .execute()
  await tx.query
    .insertInto('domain_holder')
    .values({
      name: domain.name,
      domain_id: domain.id,
      organization_id: domain.organizationId,
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const holder = await tx.query
    .selectFrom('domain_holder')
    .select('domain_id')
    .where('name', '=', domain.name)
    .executeTakeFirst()
  return holder?.domain_id === domain.id
}

/** Releases a domain's name, so that another organization may verify it. */
export async function release(tx: Tx, domain: DomainRecord): Promise<void> {
  await tx.query.deleteFrom('domain_holder').where('domain_id', '=', domain.id).execute()
}

/**
 * Records what a look-up of the domain's TXT records found, or that the operator verified the domain; undefined if the
 * domain no longer exists.
 */
export async function noteCheck(
  tx: Tx,
  domain: DomainRecord,
  found: {
    seen: Readonly<Record<string, unknown>> | undefined
    nextCheckAt: number | null
    verified?: { by: 'dns' | 'operator' } | undefined
    lost?: boolean | undefined
  },
): Promise<DomainRecord | undefined> {
  const row = await tx.query
    .updateTable('domain')
    .set({
      seen: found.seen === undefined ? null : JSON.stringify(found.seen),
      checked_at: tx.now,
      next_check_at: found.nextCheckAt,
      ...(found.verified === undefined
        ? {}
        : { verified_at: tx.now, verified_by: found.verified.by, lost_at: null }),
      ...(found.lost === true ? { verified_at: null, verified_by: null, lost_at: tx.now } : {}),
    })
    .where('organization_id', '=', domain.organizationId)
    .where('id', '=', domain.id)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/**
 * Routes people with addresses in a domain to a connection of the same organization, or to the default one if
 * `connectionId` is undefined. Returns undefined if there is no such domain.
 */
export async function route(
  tx: Tx,
  {
    organizationId,
    id,
    connectionId,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly connectionId: string | undefined
  },
): Promise<DomainRecord | undefined> {
  const row = await tx.query
    .updateTable('domain')
    .set({ connection_id: connectionId ?? null })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

export async function remove(tx: Tx, domain: DomainRecord): Promise<void> {
  await release(tx, domain)
  await removeOwn(tx, 'domain', domain)
}

/** Takes domains whose check is due and postpones their next check, so that no other node takes them too. */
export async function takeDue(
  tx: Tx,
  take: { limit: number; putOffUntil: number },
): Promise<DomainRecord[]> {
  const due = await tx.query
    .selectFrom('domain')
    .select('id')
    .where('next_check_at', '<=', tx.now)
    .orderBy('next_check_at')
    .limit(take.limit)
    .$if(tx.engine === 'postgres', (query) => query.forUpdate().skipLocked())
    .execute()
  if (due.length === 0) return []
  const rows = await tx.query
    .updateTable('domain')
    .set({ next_check_at: take.putOffUntil })
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .returningAll()
    .execute()
  return rows.map(fromRow)
}
