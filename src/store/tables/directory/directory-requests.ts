import { sql } from 'kysely'
import type { Id, OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'
import { insertion } from '../../db/insertion.ts'
import { together } from '../../db/together.ts'

export interface DirectoryRequestTable {
  organization_id: string
  id: string
  token_id: string
  at: number
  method: string
  path: string
  status: number
  scim_type: string | null
  detail: string | null
  sent: string | null
  ignored: string | null
  resource_id: string | null
  duration_us: number
  address: string | null
  agent: string | null
}

/** A request from a directory, and our response to it. */
export interface DirectoryRequestRecord {
  readonly id: string
  readonly tokenId: Id<'tok'>
  readonly at: number
  readonly method: string
  /** Including the query string. */
  readonly path: string
  readonly status: number
  readonly scimType: string | undefined
  readonly detail: string | undefined
  /** The request's body, truncated and without secrets. */
  readonly sent: string | undefined
  /** Names of attributes that were sent but ignored. */
  readonly ignored: readonly string[]
  /** The user or group that the request concerned. */
  readonly resourceId: string | undefined
  readonly durationUs: number
  readonly address: string | undefined
  readonly agent: string | undefined
}

const kept = 1000

const columns = {
  organization_id: 'text',
  id: 'text',
  token_id: 'text',
  at: 'bigint',
  method: 'text',
  path: 'text',
  status: 'bigint',
  scim_type: 'text',
  detail: 'text',
  sent: 'text',
  ignored: 'text',
  resource_id: 'text',
  duration_us: 'bigint',
  address: 'text',
  agent: 'text',
} as const

/** Adds requests of an organization and deletes all but the last thousand. */
export async function insertAll(
  tx: Tx,
  organizationId: OrganizationId,
  requests: readonly DirectoryRequestRecord[],
): Promise<void> {
  const rows = requests.map((each) => ({ ...toRow(organizationId, each) }))
  await together(
    tx,
    insertion(tx, {
      table: 'directory_request',
      types: columns,
      rows,
      keepsOld: true,
    }),
  )
  await sql`delete from directory_request where organization_id = ${organizationId} and id <= (
    select id from directory_request where organization_id = ${organizationId}
    order by id desc limit 1 offset ${sql.lit(kept)})`.execute(tx.query)
}

/** Selects requests: before an id, only refused ones, or those about one user or group. */
export interface RequestPage {
  readonly before?: string | undefined
  readonly limit: number
  readonly failedOnly?: boolean | undefined
  readonly resourceId?: string | undefined
}

/** Lists a page of requests, newest first. */
export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: RequestPage,
): Promise<DirectoryRequestRecord[]> {
  let query = db.query
    .selectFrom('directory_request')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id', 'desc')
    .limit(page.limit)
  if (page.before !== undefined) query = query.where('id', '<', page.before)
  if (page.failedOnly === true) query = query.where('status', '>=', 400)
  if (page.resourceId !== undefined) query = query.where('resource_id', '=', page.resourceId)
  return (await query.execute()).map(fromRow)
}

function toRow(
  organizationId: OrganizationId,
  request: DirectoryRequestRecord,
): DirectoryRequestTable {
  return {
    organization_id: organizationId,
    id: request.id,
    token_id: request.tokenId,
    at: request.at,
    method: request.method,
    path: request.path,
    status: request.status,
    scim_type: request.scimType ?? null,
    detail: request.detail ?? null,
    sent: request.sent ?? null,
    ignored: request.ignored.length === 0 ? null : JSON.stringify(request.ignored),
    resource_id: request.resourceId ?? null,
    duration_us: request.durationUs,
    address: request.address ?? null,
    agent: request.agent ?? null,
  }
}

function fromRow(row: DirectoryRequestTable): DirectoryRequestRecord {
  return {
    id: row.id,
    tokenId: row.token_id as Id<'tok'>,
    at: row.at,
    method: row.method,
    path: row.path,
    status: row.status,
    scimType: row.scim_type ?? undefined,
    detail: row.detail ?? undefined,
    sent: row.sent ?? undefined,
    ignored: row.ignored === null ? [] : (JSON.parse(row.ignored) as string[]),
    resourceId: row.resource_id ?? undefined,
    durationUs: row.duration_us,
    address: row.address ?? undefined,
    agent: row.agent ?? undefined,
  }
}
