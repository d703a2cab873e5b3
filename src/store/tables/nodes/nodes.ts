import type { FeedMark } from '../../db/changes.ts'
import { CompiledQuery, sql } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { serverAge } from './database-server.ts'

export interface NodeTable {
  id: string
  started_at: number
  heartbeat_at: number
  seen_sequence: number
  seen_token: string
  beats: number
}

/** A node as other nodes see it. */
export interface NodeRow {
  readonly id: string
  /** Differs after every heartbeat, independently of any clock. */
  readonly beat: string
  readonly seenSequence: number
  /** Whether the last change that the node has read is part of this database's history. */
  readonly isOfThisHistory: boolean
}

/** Records that a running node is alive and how far it has read the change feed; returns whether its row existed. */
export async function beat(tx: Tx, node: { id: string; seen: FeedMark }): Promise<boolean> {
  const seen = { seen_sequence: node.seen.sequence, seen_token: node.seen.token }
  const { numUpdatedRows } = await tx.query
    .updateTable('node')
    .set((eb) => ({ ...seen, heartbeat_at: tx.now, beats: eb('beats', '+', 1) }))
    .where('id', '=', node.id)
    .executeTakeFirst()
  if (numUpdatedRows > 0n) return true
  await tx.query
    .insertInto('node')
    .values({ id: node.id, started_at: tx.now, heartbeat_at: tx.now, beats: 1, ...seen })
    .execute()
  return false
}

/** Records a heartbeat as `beat` does, and lists the other nodes: on PostgreSQL both in one statement. */
export async function beatAndLook(
  tx: Tx,
  node: { id: string; seen: FeedMark },
): Promise<{ wasThere: boolean; others: NodeRow[] }> {
  if (tx.engine === 'sqlite') {
    const wasThere = await beat(tx, node)
    const { nodes } = await look(tx, undefined)
    return { wasThere, others: nodes.filter(({ id }) => id !== node.id) }
  }
  const { sequence, token } = node.seen
  // The text is constant, because building a query costs an idle node more than running it.
  const { rows } = await tx.query.executeQuery<BeatRow>(
    CompiledQuery.raw(beatAndLookText, [sequence, token, tx.now, node.id]),
  )
  const wasThere = rows[0]?.was_there === true || (await beat(tx, node))
  return { wasThere, others: rows.flatMap(nodeOf) }
}

const beatAndLookText = `with own as (
    update node set seen_sequence = $1, seen_token = $2, heartbeat_at = $3, beats = beats + 1
    where id = $4 returning id)
  select state.was_there, node.id, node.seen_sequence, node.seen_token, node.heartbeat_at,
    node.beats, seen.sequence as known
  from (select exists (select 1 from own) as was_there) as state
  left join node on node.id <> $4
  left join change as seen
    on seen.sequence = node.seen_sequence and seen.token = node.seen_token`

export async function leave(tx: Tx, id: string): Promise<void> {
  await tx.query.deleteFrom('node').where('id', '=', id).execute()
}

/** Removes a silent node, unless it has sent another heartbeat in the meantime. */
export async function removeSilent(tx: Tx, node: NodeRow): Promise<void> {
  const [heartbeatAt = '', beats = ''] = node.beat.split(' ')
  await tx.query
    .deleteFrom('node')
    .where('id', '=', node.id)
    .where('heartbeat_at', '=', Number(heartbeatAt))
    .where('beats', '=', Number(beats))
    .execute()
}

/** Reads, in one snapshot, all registered nodes, whether a change exists, and the age of the database server. */
export async function look(
  db: Db,
  change: FeedMark | undefined,
): Promise<{ nodes: NodeRow[]; hasChange: boolean; serverAgeMs: number | undefined }> {
  const { sequence, token } = change ?? { sequence: 0, token: '' }
  const { rows } = await sql<LookRow>`
    select state.*, node.id, node.seen_sequence, node.seen_token, node.heartbeat_at, node.beats,
      seen.sequence as known
    from (select
      exists (select 1 from change where sequence = ${sequence} and token = ${token}) as has_change,
      ${serverAge(db)} as server_age) as state
    left join node on true
    left join change as seen
      on seen.sequence = node.seen_sequence and seen.token = node.seen_token`.execute(db.query)
  return {
    nodes: rows.flatMap(nodeOf),
    hasChange: change === undefined || Boolean(rows[0]?.has_change),
    serverAgeMs: rows[0]?.server_age ?? undefined,
  }
}

interface LookRow extends ListedRow {
  readonly has_change: boolean | number
  readonly server_age: number | null
}

interface BeatRow extends ListedRow {
  readonly was_there: boolean
}

interface ListedRow {
  readonly id: string | null
  readonly seen_sequence: number
  readonly seen_token: string
  readonly heartbeat_at: number
  readonly beats: number
  readonly known: number | null
}

function nodeOf(row: ListedRow): NodeRow[] {
  if (row.id === null) return []
  return [
    {
      id: row.id,
      beat: `${row.heartbeat_at} ${row.beats}`,
      seenSequence: row.seen_sequence,
      // During a rolling upgrade, a node of an older version reports no token and counts as having the same history.
      isOfThisHistory: row.known !== null || row.seen_token === '',
    },
  ]
}
