import type pg from 'pg'
import type { ServerMark } from '../../db/db.ts'

// What is acknowledged is on the disk, also where the server's default is `off`. Stronger settings, as with replicas, stay.
const keepCommits = `case when current_setting('synchronous_commit') = 'off'
  then set_config('synchronous_commit', 'on', false) end`

/**
 * What makes this database this database: the cluster, the timeline of its history, the database in it, and the file of
 * the feed, which a restore in place makes anew.
 */
export const serverIdentity = `(select concat_ws('/',
  (select system_identifier from pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
  (select oid from pg_database where datname = current_database()),
  pg_relation_filenode('change')))`

/** When the server was started: after a restart it may be a different server (a restore, a failover). */
export const serverStart = `cast(extract(epoch from pg_postmaster_start_time()) as text)`

/**
 * Greets a server that has just taken a connection: what may not be written to is refused, and who meets another server
 * than the last one writes down when that was.
 */
export async function greetServer(client: pg.ClientBase): Promise<ServerMark> {
  // In recovery there is no current place in the log, and asking for it fails.
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

/** Refuses a server that takes no writes; on any other, commits are acknowledged when they are on the disk. */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(
    `select pg_is_in_recovery() as standby, ${keepCommits}`,
  )
  if (rows[0]?.standby !== false) throw new StandbyError()
}

/** No node can have trusted an earlier state of an empty database; of a backup of an older version, it can. */
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

/** Refuses a server that only repeats what another one writes: what it knows may be old (57P03 cannot_connect_now). */
class StandbyError extends Error {
  readonly code = '57P03'

  constructor() {
    super('the database server is a standby, which takes no writes')
    this.name = 'StandbyError'
  }
}
