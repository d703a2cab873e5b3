import type { OrganizationId } from '../../../ids.ts'
import type { ExpressionBuilder } from 'kysely'
import { columns, flag, json, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, KnownTables, Tx } from '../../db/db.ts'
import type { OwnKey } from '../../db/own-rows.ts'

const healthColumns = {
  state: text<'active' | 'held' | 'disabled'>(),
  disabledReason: maybe(text()),
  failures: number(),
  failingSince: maybe(time()),
  lastSuccessAt: maybe(time()),
  heldAt: maybe(time()),
  probeAt: maybe(time()),
  probeDelayMs: maybe(number()),
}
const healthOf = columns(healthColumns, {})

const declared = {
  id: text<`ep_${string}`>(),
  organizationId: text<OrganizationId>(),
  url: text(),
  description: text(),
  /** Undefined means every event type. */
  types: maybe(json<readonly string[]>()),
  headersSealed: maybe(text()),
  headerNames: json<readonly string[]>(),
  ratePerSecond: maybe(number()),
  ordered: flag(),
  publicKey: maybe(text()),
  privateKeySealed: maybe(text()),
  createdAt: time(),
  createdBy: maybe(text()),
  deletedAt: maybe(time()),
  version: number(),
  lastAttemptAt: maybe(time()),
  leaseToken: number(),
}

const hidden = { leaseOwner: maybe(text()), leaseUntil: maybe(time()) }
const own = columns(declared, hidden)

/** The health of an endpoint as stored; times are milliseconds since 1970. */
export type EndpointHealthRecord = RecordOf<typeof healthColumns>
export type EndpointRecord = RecordOf<typeof declared> & { readonly health: EndpointHealthRecord }
export type EndpointTable = TableOf<typeof declared & typeof healthColumns & typeof hidden>

export interface EndpointSettings {
  readonly url?: string | undefined
  readonly description?: string | undefined
  /** null means every event type. */
  readonly types?: readonly string[] | null | undefined
  readonly headersSealed?: string | null | undefined
  readonly headerNames?: readonly string[] | undefined
  readonly ratePerSecond?: number | null | undefined
  readonly ordered?: boolean | undefined
  readonly publicKey?: string | null | undefined
  readonly privateKeySealed?: string | null | undefined
}

/** Adds an endpoint and its row of delivery counts. */
export async function insert(
  tx: Tx,
  endpoint: {
    id: `ep_${string}`
    organizationId: string
    url: string
    createdBy: string | undefined
  } & EndpointSettings,
): Promise<EndpointRecord> {
  const row = await tx.query
    .insertInto('endpoint')
    .values({
      id: endpoint.id,
      organization_id: endpoint.organizationId,
      created_at: tx.now,
      created_by: endpoint.createdBy ?? null,
      deleted_at: null,
      version: 1,
      failures: 0,
      lease_token: 0,
      state: 'active',
      ...columnsOf(endpoint),
      url: endpoint.url,
      description: endpoint.description ?? '',
      header_names: JSON.stringify(endpoint.headerNames ?? []),
      ordered: endpoint.ordered ? 1 : 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx.query
    .insertInto('endpoint_count')
    .values({
      endpoint_id: endpoint.id,
      organization_id: endpoint.organizationId,
      committed: 0,
      removed_delivered: 0,
      removed_dead: 0,
      removed_skipped: 0,
    })
    .execute()
  return fromRow(row)
}

/** Changes the given settings and ends the lease; undefined if there is no such endpoint at that version. */
export async function update(
  tx: Tx,
  {
    organizationId,
    id,
    settings,
    version,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly settings: EndpointSettings
    readonly version?: number | undefined
  },
): Promise<EndpointRecord | undefined> {
  const row = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({ ...columnsOf(settings), ...withoutLease(eb), version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Writes an endpoint's health, and ends the lease, so that its holder can't overwrite the health with an older one. */
export async function updateHealth(
  tx: Tx,
  { organizationId, id }: OwnKey,
  health: EndpointHealthRecord,
): Promise<EndpointRecord | undefined> {
  const row = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({ ...withoutLease(eb), ...healthOf.toRow(health) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Deletes an endpoint; returns whether there was one. The row stays for its deliveries but keeps no secrets. */
export async function remove(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({
      deleted_at: tx.now,
      state: 'disabled',
      headers_sealed: null,
      private_key_sealed: null,
      ...withoutLease(eb),
      version: eb('version', '+', 1),
    }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Finds an endpoint that has not been deleted. */
export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<EndpointRecord | undefined> {
  const row = await db.query
    .selectFrom('endpoint')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Finds the organization of an endpoint that is named by its id alone. */
export async function organizationOf(db: Db, id: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('endpoint')
    .select('organization_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row?.organization_id
}

/** Lists an organization's endpoints in order of creation, without deleted ones. */
export async function list(db: Db, organizationId: string): Promise<EndpointRecord[]> {
  const rows = await db.query
    .selectFrom('endpoint')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map(fromRow)
}

export async function count(db: Db, organizationId: string): Promise<number> {
  const row = await db.query
    .selectFrom('endpoint')
    .select((eb) => eb.fn.countAll<number>().as('endpoints'))
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return row.endpoints
}

function withoutLease(eb: ExpressionBuilder<KnownTables, 'endpoint'>) {
  return { lease_owner: null, lease_until: null, lease_token: eb('lease_token', '+', 1) }
}

function columnsOf(settings: EndpointSettings): Partial<EndpointTable> {
  const columns: Partial<EndpointTable> = {}
  if (settings.url !== undefined) columns.url = settings.url
  if (settings.description !== undefined) columns.description = settings.description
  if (settings.types !== undefined) {
    columns.types = settings.types === null ? null : JSON.stringify(settings.types)
  }
  if (settings.headersSealed !== undefined) columns.headers_sealed = settings.headersSealed
  if (settings.headerNames !== undefined) {
    columns.header_names = JSON.stringify(settings.headerNames)
  }
  if (settings.ratePerSecond !== undefined) columns.rate_per_second = settings.ratePerSecond
  if (settings.ordered !== undefined) columns.ordered = settings.ordered ? 1 : 0
  if (settings.publicKey !== undefined) columns.public_key = settings.publicKey
  if (settings.privateKeySealed !== undefined) {
    columns.private_key_sealed = settings.privateKeySealed
  }
  return columns
}

export function fromRow(row: EndpointTable): EndpointRecord {
  return { ...own.fromRow(row), health: healthOf.fromRow(row) }
}
