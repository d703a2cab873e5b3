import { Kysely, PostgresDialect, sql } from 'kysely'
import { join } from 'node:path'
import pg from 'pg'
import type { Clock } from '../../clock.ts'
import {
  createTransaction,
  type Change,
  type Collected,
  type Db,
  type LedgerSettings,
  type FeedMark,
  type Tx,
} from '../db/db.ts'
import type { EngineHandle, EngineLane, PoolState } from './engine.ts'
import { writeLedger } from './ledger.ts'
import { commitChanges } from './commit-changes.ts'
import { refuseStandby, serverIdentity, serverStart } from './greeting.ts'
import { migrate, migrationsFolder } from './migrate.ts'
import { ServerWatch } from './server-watch.ts'
import { connectTimeoutMs, isPlanGone, openPool } from './postgres-pool.ts'
import { createCommitQueues } from './shared-commits.ts'
import { sealAfterMigration } from '../tables/audit/seals.ts'
import { insertRows } from '../tables/calls/calls.ts'
import type { Tables } from '../tables/index.ts'

const statementTimeoutMs = 4500
// Who asks a server that stands still is refused within 5 s.
const queryTimeoutMs = 4700
const reconnectMs = 250
// A deprovision behind the work of seconds, as a role for a very large group, waits rather than being refused.
const lineMs = 25_000
const attemptsOfTransaction = 5
const backgroundConnections = 4
// Reads that may take seconds have few connections of their own: the others stay free for calls.
const slowReadConnections = 3
const slowReadMs = 30_000
const urgentConnections = 3
// Whoever stands still in the middle of a transaction keeps others waiting for what it has locked.
const idleInTransactionMs = 2000
// Any number, the same for all versions: only one process migrates at a time.
const migrationLock = 7263940

/** PostgreSQL through a pool, with a few more for background work; NOTIFY on one of its own. */
export async function openPostgres(
  url: string,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  poolSize: number,
  ledger: LedgerSettings,
): Promise<EngineHandle> {
  const settings: pg.PoolConfig = {
    connectionString: url,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    application_name: 'intercept',
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  }
  await migrateDatabase(settings, async (query, applied) => {
    const at = { query, engine: 'postgres' as const, ...ledger }
    await sealAfterMigration(createTransaction(at, clock.now()).transaction, applied)
  })
  const servers = new ServerWatch()
  const greeted = {
    ...settings,
    onConnect: async (client: pg.ClientBase) => await servers.greet(client),
  }
  const main = openLane(greeted, clock, ledger)
  const background = openLane({ ...greeted, max: backgroundConnections }, clock, ledger)
  const urgent = openLane({ ...greeted, max: urgentConnections }, clock, ledger)
  const calls: Db = { query: main.query, engine: 'postgres' }
  const slowReads = openSlowReads(greeted)
  let listener: pg.Client | undefined
  let closed = false

  return {
    engine: 'postgres',
    ...main,
    background,
    urgent,
    calls,
    slowReads,
    slowCallReads: slowReads,
    transactCalls: async (work) => (await main.transact(work)).result,
    insertCalls: async (rows) => await insertRows(calls, rows),
    hasForeignCommit: async () => true,
    pollMs: 200,
    listen(onHint) {
      const connect = async (): Promise<void> => {
        if (closed) return
        const client = new pg.Client({
          ...settings,
          connectionTimeoutMillis: connectTimeoutMs,
          statement_timeout: undefined,
          query_timeout: undefined,
        })
        let gone = false
        const again = (): void => {
          if (gone) return
          gone = true
          void client.end().catch(() => undefined)
          setTimeout(() => void connect(), reconnectMs).unref()
        }
        client.on('error', again)
        client.on('end', again)
        client.on('notification', ({ payload }) => onHint(markOf(payload)))
        listener = client
        try {
          await client.connect()
          await servers.greet(client)
          await client.query('listen intercept_change')
          onHint(undefined)
        } catch {
          again()
        }
      }
      void connect()
    },
    onOther: (call) => servers.onOther(call),
    pool: () => sumOf([main.pool(), background.pool(), urgent.pool()]),
    serverIdentity: () => sql.raw(serverIdentity),
    serverStart: () => sql.raw(serverStart),
    async backup() {
      throw new Error(
        'A PostgreSQL database is backed up with pg_dump, and restored with pg_restore.',
      )
    },
    async close() {
      closed = true
      await listener?.end().catch(() => undefined)
      await main.query.destroy()
      await background.query.destroy()
      await slowReads.query.destroy()
      await urgent.query.destroy()
    },
  }
}

function openSlowReads(settings: pg.PoolConfig): Db {
  const pool = openPool({
    ...settings,
    max: slowReadConnections,
    statement_timeout: slowReadMs,
    query_timeout: slowReadMs + statementTimeoutMs,
    // Who waits behind two questions of seconds waits rather than being refused.
    waitMs: slowReadMs,
  })
  return {
    query: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
    engine: 'postgres',
  }
}

/** Reads and transactions over a pool. */
function openLane(
  settings: pg.PoolConfig,
  clock: Pick<Clock, 'now' | 'monotonic'>,
  ledger: LedgerSettings,
): EngineLane & { pool(): PoolState } {
  const pool = openPool(settings)
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })

  /** Runs works, then the ledger, then commits. */
  async function commit<T>(
    work: (tx: Tx, collected: Collected) => Promise<T>,
    isQueued = false,
  ): Promise<{ result: T; changes: Change[] }> {
    const begin = query.transaction()
    return await (isQueued ? begin.setAccessMode('read write') : begin).execute(async (kysely) => {
      const { transaction, collected } = createTransaction(
        { query: kysely, engine: 'postgres', ...ledger },
        clock.now(),
      )
      const result = await work(transaction, collected)
      return { result, changes: await writeLedger(transaction, collected, commitChanges) }
    })
  }

  async function alone<T>(work: (tx: Tx) => Promise<T>): Promise<{ result: T; changes: Change[] }> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await commit(work)
      } catch (error) {
        if (attempt >= attemptsOfTransaction || !isWorthAnotherTry(error)) throw error
      }
    }
  }

  const queues = createCommitQueues({
    alone,
    isWorthAnotherTry,
    monotonic: () => clock.monotonic(),
    waitMs: lineMs,
    async shared(works) {
      const done = await commit(async (transaction, collected) => {
        const say = async (words: string): Promise<void> =>
          void (await sql.raw(words).execute(transaction.query))
        await works({
          transaction,
          collected,
          // Within the last one: one way there and back, where letting that one go first would take two.
          mark: async () => await say('savepoint work'),
          goBack: async () => await say('rollback to savepoint work'),
        })
      }, true)
      return done.changes
    },
  })

  return {
    query,
    transact: async (work, queue) =>
      queue === undefined ? await alone(work) : await queues.commit(queue, work),
    pool: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  }
}

function sumOf(pools: readonly PoolState[]): PoolState {
  const sum = (name: keyof PoolState) => pools.reduce((total, pool) => total + pool[name], 0)
  return { open: sum('open'), idle: sum('idle'), waiting: sum('waiting') }
}

// 40001 serialization_failure, 40P01 deadlock_detected, 25P03 idle_in_transaction_session_timeout: nothing was
// committed, and the whole transaction may be run again.
function isWorthAnotherTry(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return code === '40001' || code === '40P01' || code === '25P03' || isPlanGone(error)
}

/** `<sequence> <token>` of the last change; an older version says no token. */
function markOf(payload: string | undefined): FeedMark | undefined {
  const [sequence, token] = payload?.split(' ') ?? []
  return token === undefined ? undefined : { sequence: Number(sequence), token }
}

/** bigint as number: our integers are times, sizes and counts, all below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  const int8 = 20
  return oid === int8 ? Number : pg.types.getTypeParser(oid, format)
}

async function migrateDatabase(
  settings: pg.PoolConfig,
  complete: (query: Kysely<Tables>, applied: readonly string[]) => Promise<void>,
): Promise<void> {
  // A pool of its own: building an index may take longer than a statement may at work.
  const query = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: openPool({
        ...settings,
        max: 1,
        statement_timeout: undefined,
        query_timeout: undefined,
        idle_in_transaction_session_timeout: undefined,
        onConnect: refuseStandby,
      }),
    }),
  })
  try {
    await query.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(tx)
      await migrate(
        {
          complete: async (applied) => await complete(tx, applied),
          execute: async (statement) => void (await sql.raw(statement).execute(tx)),
          async applied() {
            await sql`create table if not exists migration (name text primary key, digest text not null)`.execute(
              tx,
            )
            const { rows } = await sql<{
              name: string
              digest: string
            }>`select name, digest from migration`.execute(tx)
            return new Map(rows.map((row) => [row.name, row.digest]))
          },
          async record(name, digest) {
            await sql`insert into migration (name, digest) values (${name}, ${digest})`.execute(tx)
          },
        },
        join(migrationsFolder, 'postgres'),
      )
    })
  } finally {
    await query.destroy()
  }
}
