import type pg from 'pg'
import type { ServerMark } from '../../db/db.ts'

// A commit must be on disk before it is acknowledged, even if the server's default is `off`; stronger settings, such as
// waiting for replicas, are kept.
const keepCommits = `case when current_setting('synchronous_commit') = 'off'
  then set_config('synchronous_commit', 'on', false) end`

/**
 * Identifies a database by its cluster, its timeline, its id in that cluster, and the file of the table of changes,
 * which an in-place restore creates anew.
 */
export const serverIdentity = `(select concat_ws('/',
  (select system_identifier from pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (select oid from pg_database where datname = current_database()),
  pg_relation_filenode('change')))`

/** When the server started. A different start may mean a different server, after a restore or a failover. */
export const serverStart = `cast(extract(epoch from pg_postmaster_start_time()) as text)`

/**
 * Checks the server behind a new connection: refuses a standby, records a server that differs from the last known one,
 * and returns what identifies the server.
 */
export async function greetServer(client: pg.ClientBase): Promise<ServerMark> {
  // During recovery there is no current WAL position, and asking for one fails.
  await refuseStandby(client)
  const { rows } = await client.query<{ identity: string; started_at: string; known: string }>(
    `select ${serverIdentity} as identity, ${serverStart} as started_at,
      (select identity from database_server) as known`,
  )
  const { identity = '', started_at: startedAt = '', known = '' } = rows[0] ?? {}
  const met = `${identity} ${startedAt}`
  if (known !== met) await writeDown(client, met)
  return { identity, startedAt }
}

/** Refuses a standby; on any other server, makes sure that a commit is acknowledged only when it is on disk. */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(
    `select pg_is_in_recovery() as standby, ${keepCommits}`,
  )
  if (rows[0]?.standby !== false) throw new StandbyError()
}

/** Records the server and when it was first seen; 0 stands for a new database, one without changes. */
async function writeDown(client: pg.ClientBase, met: string): Promise<void> {
  await client.query(
    `insert into database_server (only_row, identity, since)
    select 1, $1, case when exists (select 1 from change)
      then cast(extract(epoch from clock_timestamp()) * 1000 as bigint) else 0 end
    on conflict (only_row) do update set identity = excluded.identity,
      since = cast(extract(epoch from clock_timestamp()) * 1000 as bigint)
    where database_server.identity <> excluded.identity`,
    [met],
  )
}

/** Thrown for a standby, which only replays another server's writes and may be stale (57P03 cannot_connect_now). */
class StandbyError extends Error {
  readonly code = '57P03'

  constructor() {
    super('the database server is a standby, which takes no writes')
    this.name = 'StandbyError'
  }
}
