import { sql } from 'kysely'
import type { Id, OrganizationId } from '../../../ids.ts'
import { columns, loggedText, maybe, number, text, time } from '../../db/columns.ts'
import type { Column, RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { insertion } from '../../db/insertion.ts'
import { newestFirst, type NewestPage } from '../../db/newest-first.ts'
import { together } from '../../db/together.ts'

/** A column for a list that is usually empty; an empty list is stored as null. */
const mostlyEmpty: Column<readonly string[], string | null> = {
  read: (kept) => (kept === null ? [] : (JSON.parse(kept) as string[])),
  write: (list) => (list.length === 0 ? null : JSON.stringify(list)),
  show: (list) => list,
  schema: { type: 'array', items: { type: 'string' } },
}

const declared = {
  id: text(),
  tokenId: text<Id<'tok'>>(),
  at: time(),
  method: text(),
  /** The path and the query string, truncated and without possible secrets. */
  path: loggedText(),
  status: number(),
  scimType: maybe(text()),
  detail: maybe(loggedText()),
  /** The request's content, truncated and without secrets. */
  sent: maybe(loggedText()),
  /** Names of attributes that were sent but ignored. */
  ignored: mostlyEmpty,
  /** The user or group that the request concerned. */
  resourceId: maybe(text()),
  durationUs: number(),
  address: maybe(text()),
  agent: maybe(text()),
}
const hidden = { organizationId: text<OrganizationId>() }
const { fromRow, toRow } = columns(declared, hidden)

/** A directory's request and our response to it. */
export type DirectoryRequestRecord = RecordOf<typeof declared>
export type DirectoryRequestTable = TableOf<typeof declared & typeof hidden>

const kept = 1000

const types = {
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

/** Adds an organization's requests and deletes all but its last thousand. */
export async function insertAll(
  tx: Tx,
  organizationId: OrganizationId,
  requests: readonly DirectoryRequestRecord[],
): Promise<void> {
  const rows = requests.slice(-kept).map((each) => toRow({ ...each, organizationId }))
  await together(
    tx,
    insertion(tx, {
      table: 'directory_request',
      types,
      rows,
      keepsOld: true,
    }),
  )
  await sql`delete from directory_request where organization_id = ${organizationId} and id <= (
    select id from directory_request where organization_id = ${organizationId}
    order by id desc limit 1 offset ${sql.lit(kept)})`.execute(tx.query)
}

/**
 * A page of requests; `failedOnly` selects those with a status of 400 or above, `resourceId` those about one user or
 * group.
 */
export interface RequestPage extends NewestPage {
  readonly failedOnly?: boolean | undefined
  readonly resourceId?: string | undefined
}

export async function list(
  db: Db,
  organizationId: OrganizationId,
  page: RequestPage,
): Promise<DirectoryRequestRecord[]> {
  let query = newestFirst(db.query.selectFrom('directory_request').selectAll(), page).where(
    'organization_id',
    '=',
    organizationId,
  )
  if (page.failedOnly === true) query = query.where('status', '>=', 400)
  if (page.resourceId !== undefined) query = query.where('resource_id', '=', page.resourceId)
  return (await query.execute()).map(fromRow)
}
