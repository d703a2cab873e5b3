import type { OrganizationId } from '../../../ids.ts'
import type { ExpressionBuilder } from 'kysely'
import type { Db, KnownTables, Tx } from '../../db/db.ts'

export interface EndpointTable {
  id: string
  organization_id: string
  url: string
  description: string
  types: string | null
  headers_sealed: string | null
  header_names: string
  rate_per_second: number | null
  ordered: number
  public_key: string | null
  private_key_sealed: string | null
  created_at: number
  created_by: string | null
  deleted_at: number | null
  version: number
  state: string
  disabled_reason: string | null
  failures: number
  failing_since: number | null
  last_success_at: number | null
  last_attempt_at: number | null
  held_at: number | null
  probe_at: number | null
  probe_delay_ms: number | null
  lease_owner: string | null
  lease_token: number
  lease_until: number | null
}

/** The health of an endpoint as stored; times are milliseconds since 1970. */
export interface EndpointHealthRecord {
  readonly state: 'active' | 'held' | 'disabled'
  readonly disabledReason: string | undefined
  readonly failures: number
  readonly failingSince: number | undefined
  readonly lastSuccessAt: number | undefined
  readonly heldAt: number | undefined
  readonly probeAt: number | undefined
  readonly probeDelayMs: number | undefined
}

/** An endpoint as stored; undefined types mean every type. */
export interface EndpointRecord {
  readonly id: `ep_${string}`
  readonly organizationId: OrganizationId
  readonly url: string
  readonly description: string
  readonly types: readonly string[] | undefined
  readonly headersSealed: string | undefined
  readonly headerNames: readonly string[]
  readonly ratePerSecond: number | undefined
  readonly ordered: boolean
  readonly publicKey: string | undefined
  readonly privateKeySealed: string | undefined
  readonly createdAt: number
  readonly createdBy: string | undefined
  readonly deletedAt: number | undefined
  readonly version: number
  readonly health: EndpointHealthRecord
  readonly lastAttemptAt: number | undefined
  readonly leaseToken: number
}

/** The columns that people can edit. */
export interface EndpointSettings {
  readonly url?: string | undefined
  readonly description?: string | undefined
  /** null means every type. */
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

/** Changes the editable columns and ends the lease; undefined if there is no such endpoint at that version. */
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

/**
 * Writes health that a person decided. This ends the lease, so that its holder can't overwrite it with an outdated
 * value. Undefined if there is no such endpoint.
 */
export async function updateHealth(
  tx: Tx,
  {
    organizationId,
    id,
    health,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly health: EndpointHealthRecord
  },
): Promise<EndpointRecord | undefined> {
  const row = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({
      ...withoutLease(eb),
      state: health.state,
      disabled_reason: health.disabledReason ?? null,
      failures: health.failures,
      failing_since: health.failingSince ?? null,
      last_success_at: health.lastSuccessAt ?? null,
      held_at: health.heldAt ?? null,
      probe_at: health.probeAt ?? null,
      probe_delay_ms: health.probeDelayMs ?? null,
    }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Deletes an endpoint: the row stays for its deliveries but keeps no secret. False if there is none. */
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

/** The organization that an endpoint belongs to; for the operator, who works outside any organization. */
export async function organizationOf(db: Db, id: string): Promise<string | undefined> {
  const row = await db.query
    .selectFrom('endpoint')
    .select('organization_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row?.organization_id
}

/** Lists an organization's endpoints in order of creation. */
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

/** Counts an organization's endpoints. */
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

/** Converts a row into a record. Its JSON is trusted because we validated it before writing. */
export function fromRow(row: EndpointTable): EndpointRecord {
  return {
    id: row.id as `ep_${string}`,
    organizationId: row.organization_id as OrganizationId,
    url: row.url,
    description: row.description,
    types: row.types === null ? undefined : (JSON.parse(row.types) as string[]),
    headersSealed: row.headers_sealed ?? undefined,
    headerNames: JSON.parse(row.header_names) as string[],
    ratePerSecond: row.rate_per_second ?? undefined,
    ordered: row.ordered === 1,
    publicKey: row.public_key ?? undefined,
    privateKeySealed: row.private_key_sealed ?? undefined,
    createdAt: row.created_at,
    createdBy: row.created_by ?? undefined,
    deletedAt: row.deleted_at ?? undefined,
    version: row.version,
    lastAttemptAt: row.last_attempt_at ?? undefined,
    leaseToken: row.lease_token,
    health: {
      state: row.state as EndpointHealthRecord['state'],
      disabledReason: row.disabled_reason ?? undefined,
      failures: row.failures,
      failingSince: row.failing_since ?? undefined,
      lastSuccessAt: row.last_success_at ?? undefined,
      heldAt: row.held_at ?? undefined,
      probeAt: row.probe_at ?? undefined,
      probeDelayMs: row.probe_delay_ms ?? undefined,
    },
  }
}
