import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { limitLocks } from '../../db/brief-locks.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface RateShareTable {
  subject_id: string
  node_id: string
  organization_id: string
  share: number
  whole_at: number
  demand: number
  short: number
  changed_at: number
}

export interface RateNodeTable {
  node_id: string
  until: number
}

/** One node's share of a rate. A row with `nodeId` '' stands for what no node holds; its `share` is always 0. */
export interface RateShareRecord {
  /** The id of a key, target, organization or SCIM token, or a source of failed credentials. */
  readonly subjectId: string
  readonly nodeId: string
  readonly organizationId: string
  /** The share in millionths of the rate. */
  readonly share: number
  /** When the share's bucket is full again, in milliseconds since 1970 by the clock of `presentOf`. */
  readonly wholeAt: number
  /** The average number of calls per second on the node. */
  readonly demand: number
  /** Whether the node needs a larger share than it holds. */
  readonly short: boolean
}

/** The live nodes, which share the rates, and the present time by the clock of `presentOf`. */
export interface RateNodes {
  readonly now: number
  readonly live: ReadonlySet<string>
}

const rowsInStatement = 256
const rowsInPage = 2000

/** Records that a node is alive and returns the live nodes, including this one; for the times see `presentOf`. */
export async function renewNode(
  tx: Tx,
  node: { readonly id: string; readonly ttlMs: number },
): Promise<RateNodes> {
  const now = presentOf(tx)
  const { rows } = await sql<{ until: number }>`insert into rate_node (node_id, until)
    values (${node.id}, ${now} + ${sql.lit(node.ttlMs)})
    on conflict (node_id) do update set until = excluded.until returning until`.execute(tx.query)
  const until = rows[0]?.until ?? tx.now
  const at = until - node.ttlMs
  const live = await tx.query
    .selectFrom('rate_node')
    .select('node_id')
    .where('until', '>', at)
    .execute()
  return { now: at, live: new Set(live.map((row) => row.node_id)) }
}

/** Removes a stopping node, so that others can take over its shares. */
export async function leaveNode(tx: Tx, nodeId: string): Promise<void> {
  await tx.query.deleteFrom('rate_node').where('node_id', '=', nodeId).execute()
}

/**
 * Deletes dead nodes, and the rows of subjects that nobody has used for long; for sources of failed credentials, rows
 * are deleted sooner. A share that a registered node holds is kept.
 */
export async function forgetOld(
  tx: Tx,
  { before, sourcesBefore }: { readonly before: number; readonly sourcesBefore: number },
): Promise<void> {
  await limitLocks(tx)
  await tx.query.deleteFrom('rate_node').where('until', '<', before).execute()
  await tx.query
    .deleteFrom('rate_share')
    .where('changed_at', '<', sourcesBefore)
    .where((eb) =>
      eb.or([
        eb.and([eb('changed_at', '<', before), eb('whole_at', '<', before)]),
        eb.and([eb('organization_id', '=', 'system'), eb('whole_at', '<', sourcesBefore)]),
      ]),
    )
    .where((eb) =>
      eb.or([
        eb('node_id', '=', ''),
        eb('share', '=', 0),
        eb('node_id', 'not in', eb.selectFrom('rate_node').select('node_id')),
      ]),
    )
    .execute()
}

/** Deletes all shares and nodes, so that sharing starts over. */
export async function forgetAll(tx: Tx): Promise<void> {
  await limitLocks(tx)
  await tx.query.deleteFrom('rate_share').execute()
  await tx.query.deleteFrom('rate_node').execute()
}

/** Locks subjects until the transaction ends, and reads all shares of their rates. */
export async function lockSubjects(
  tx: Tx,
  subjects: readonly { readonly id: string; readonly organizationId: string }[],
): Promise<RateShareRecord[]> {
  // All nodes use the same order, so they can't deadlock on each other's rows.
  const ordered = subjects.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const found: RateShareRecord[] = []
  await limitLocks(tx)
  for (let at = 0; at < ordered.length; at += rowsInStatement) {
    const part = ordered.slice(at, at + rowsInStatement)
    // An upsert locks the row whether or not it existed; the update changes nothing.
    await tx.query
      .insertInto('rate_share')
      .values(
        part.map(({ id, organizationId }) => ({
          ...{ subject_id: id, node_id: '', organization_id: organizationId },
          ...{ share: 0, whole_at: 0, demand: 0, short: 0, changed_at: 0 },
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['subject_id', 'node_id'])
          .doUpdateSet((eb) => ({ short: eb.ref('rate_share.short') })),
      )
      .execute()
    const ids = part.map(({ id }) => id)
    found.push(...(await listOf(tx, ids)))
  }
  return found
}

export async function listOf(db: Db, subjectIds: readonly string[]): Promise<RateShareRecord[]> {
  const rows = await db.query
    .selectFrom('rate_share')
    .selectAll()
    .where('subject_id', 'in', subjectIds)
    .execute()
  return rows.map(fromRow)
}

/** A position in the order in which shares were changed. */
export interface ChangedPlace {
  /** When the share was changed, by the clock of `presentOf`. */
  readonly changedAt: number
  readonly subjectId: string
  readonly nodeId: string
}

/**
 * Lists a page of the shares of other nodes that were changed after a position, and returns where the next page begins;
 * `next` is undefined if there is none.
 */
export async function listChanged(
  db: Db,
  nodeId: string,
  since: ChangedPlace,
): Promise<{ readonly changed: RateShareRecord[]; readonly next: ChangedPlace | undefined }> {
  const after = sql<SqlBool>`(changed_at, subject_id, node_id) > (${since.changedAt}, ${since.subjectId}, ${since.nodeId})`
  const rows = await db.query
    .selectFrom('rate_share')
    .selectAll()
    // The next condition implies this one, but not every planner would derive from it a range of the index on
    // `changed_at`.
    .where('changed_at', '>=', since.changedAt)
    .where(after)
    .where('node_id', 'not in', ['', nodeId])
    .orderBy('changed_at')
    .orderBy('subject_id')
    .orderBy('node_id')
    .limit(rowsInPage)
    .execute()
  const last = rows.length < rowsInPage ? undefined : rows.at(-1)
  return {
    changed: rows.map(fromRow),
    next: last && { changedAt: last.changed_at, subjectId: last.subject_id, nodeId: last.node_id },
  }
}

/**
 * Lists up to 1,000 shares of an organization's rates that registered nodes hold; with `subjectId`, only those of that
 * subject's rate.
 */
export async function listShares(
  db: Db,
  of: { readonly organizationId: string; readonly subjectId?: string | undefined },
): Promise<RateShareRecord[]> {
  const rows = await db.query
    .selectFrom('rate_share')
    .selectAll()
    .where('organization_id', '=', of.organizationId)
    .where('node_id', 'in', (eb) => eb.selectFrom('rate_node').select('node_id'))
    .$if(of.subjectId !== undefined, (q) => q.where('subject_id', '=', of.subjectId ?? ''))
    .orderBy('subject_id')
    .orderBy('share', 'desc')
    .limit(1000)
    .execute()
  return rows.map(fromRow)
}

/** Counts the nodes that hold shares, the subjects of those shares, and the shares that are too small. */
export async function countShares(
  db: Db,
): Promise<{ nodes: number; subjects: number; short: number }> {
  const row = await db.query
    .selectFrom('rate_share')
    .innerJoin('rate_node', 'rate_node.node_id', 'rate_share.node_id')
    .select((eb) => [
      eb.fn.count<number>('rate_share.node_id').distinct().as('nodes'),
      eb.fn.count<number>('rate_share.subject_id').distinct().as('subjects'),
      sql<number>`cast(coalesce(sum(rate_share.short), 0) as bigint)`.as('short'),
    ])
    .executeTakeFirstOrThrow()
  return row
}

export async function write(
  tx: Tx,
  change: {
    readonly rows: readonly RateShareRecord[]
    readonly gone: readonly Pick<RateShareRecord, 'subjectId' | 'nodeId'>[]
  },
): Promise<void> {
  const { rows, gone } = change
  // On PostgreSQL, rows carry the time of writing, not that of the transaction's start: the transaction may have waited
  // for locks, and nodes that read in the meantime would never see rows dated before their read.
  const now = presentOf(tx)
  for (let at = 0; at < rows.length; at += rowsInStatement) {
    await tx.query
      .insertInto('rate_share')
      .values(rows.slice(at, at + rowsInStatement).map((row) => toRow(row, now)))
      .onConflict((conflict) =>
        conflict.columns(['subject_id', 'node_id']).doUpdateSet((eb) => ({
          share: eb.ref('excluded.share'),
          whole_at: eb.ref('excluded.whole_at'),
          demand: eb.ref('excluded.demand'),
          short: eb.ref('excluded.short'),
          changed_at: eb.ref('excluded.changed_at'),
        })),
      )
      .execute()
  }
  for (let at = 0; at < gone.length; at += rowsInStatement) {
    const names = gone
      .slice(at, at + rowsInStatement)
      .map(({ subjectId, nodeId }) => sql`(${subjectId}, ${nodeId})`)
    await sql`delete from rate_share where (subject_id, node_id) in (values ${sql.join(names)})`.execute(
      tx.query,
    )
  }
}

function toRow(record: RateShareRecord, now: RawBuilder<number>) {
  return {
    subject_id: record.subjectId,
    node_id: record.nodeId,
    organization_id: record.organizationId,
    share: record.share,
    whole_at: Math.ceil(record.wholeAt),
    demand: record.demand,
    short: record.short ? 1 : 0,
    changed_at: now,
  }
}

/**
 * Returns the present time in SQL: the machine's on SQLite, whose processes share one machine, and the database's on
 * PostgreSQL, because a node's own clock may be wrong.
 */
function presentOf(tx: Tx): RawBuilder<number> {
  return tx.engine === 'postgres'
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast(${tx.now} as integer)`
}

function fromRow(row: RateShareTable): RateShareRecord {
  return {
    subjectId: row.subject_id,
    nodeId: row.node_id,
    organizationId: row.organization_id,
    share: row.share,
    wholeAt: row.whole_at,
    demand: row.demand,
    short: row.short === 1,
  }
}
