import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import type { Clock } from '../../../clock.ts'
import type { Change } from '../../db/changes.ts'
import { createTransaction } from '../../db/db.ts'
import type { Collected, Db, LedgerSettings, Tx } from '../../db/db.ts'
import type { BackgroundLane, EngineHandle, EngineLane, PoolState } from '../engine.ts'
import { writeLedger } from '../ledger.ts'
import { commitChanges } from './commit-changes.ts'
import { serverIdentity, serverStart } from './greeting.ts'
import { createBatchInsert } from './insert-batch.ts'
import { PostgresListener } from './listener.ts'
import { migratePostgres } from './migrate-postgres.ts'
import { ServerWatch } from './server-watch.ts'
import { idleTurnMs } from '../../../timers.ts'
import { isPlanGone, openPool } from './pool.ts'
import { CommitQueues, type SharedTransaction } from '../shared-commits.ts'
import { sealAfterMigration } from '../../tables/audit/seals.ts'
import { forgetRows } from '../../tables/calls/calls.ts'
import type { Tables } from '../../tables/index.ts'

const statementTimeoutMs = 4500
// This is short enough that a request is refused within 5 s when the server hangs.
const queryTimeoutMs = 4700
// Milliseconds that a job may wait in its queue: deprovisioning must not be refused because it waits behind seconds of
// other work.
const maxQueueMs = 25_000
const attemptsOfTransaction = 5
const backgroundConnections = 4
// Reads that may take seconds get a few separate connections; the others stay free for calls.
const slowReadConnections = 3
const slowReadMs = 30_000
const urgentConnections = 3
// The server ends a transaction that stalls for this long, because it blocks everyone waiting for its locks.
const idleInTransactionMs = 2000

function settingsOf(url: string, poolSize: number): pg.PoolConfig {
  return {
    connectionString: url,
    max: poolSize,
    statement_timeout: statementTimeoutMs,
    query_timeout: queryTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    keepAlive: true,
    application_name: 'intercept',
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  }
}

/**
 * Opens PostgreSQL through a main pool, small pools for background work, slow reads and revocations, and a connection
 * for NOTIFY.
 */
export async function openPostgres(
  url: string,
  {
    poolSize,
    mayUpgrade,
    ...deps
  }: LaneDeps & { readonly poolSize: number; readonly mayUpgrade: boolean },
): Promise<EngineHandle> {
  const settings = settingsOf(url, poolSize)
  await migratePostgres(settings, {
    mayUpgrade,
    complete: async (query, applied) => {
      const db = { query, engine: 'postgres' as const, ...deps.ledger }
      await sealAfterMigration(createTransaction(db, deps.clock.now()).transaction, applied)
    },
  })
  const servers = new ServerWatch()
  const greeted = {
    ...settings,
    onConnect: async (client: pg.ClientBase) => await servers.greet(client),
  }
  const main = openLane(greeted, deps)
  const background = openLane({ ...greeted, max: backgroundConnections }, deps)
  const urgent = openLane({ ...greeted, max: urgentConnections }, deps)
  const slowReads = openSlowReads(greeted)
  const listener = new PostgresListener(settings, servers)

  return {
    engine: 'postgres',
    ...main,
    background,
    urgent,
    // PostgreSQL waits for the disk in its own process, so a separate lane would gain nothing.
    mayBeLost: main,
    slowReads,
    slowCallReads: slowReads,
    ...callRecordsOver(main),
    hasForeignCommit: async () => true,
    get pace() {
      const restPollMs = listener.isListening ? idleTurnMs : undefined
      return { pollMs: 200, idlePollMs: 700, restPollMs }
    },
    listen: (onHint) => listener.start(onHint),
    onOther: (call) => servers.onOther(call),
    pool: () => sumOf([main.pool(), background.pool(), urgent.pool()]),
    serverIdentity: () => sql.raw(serverIdentity),
    serverStart: () => sql.raw(serverStart),
    backup: refuseBackup,
    async close() {
      await listener.close()
      await main.query.destroy()
      await background.query.destroy()
      await slowReads.query.destroy()
      await urgent.query.destroy()
    },
  }
}

/** Call records are in the same database as everything else, but are inserted in batches. */
function callRecordsOver(
  main: EngineLane,
): Pick<EngineHandle, 'calls' | 'transactCalls' | 'insertCalls' | 'mergeCalls' | 'forgetCalls'> {
  const transactCalls: EngineHandle['transactCalls'] = async (work) =>
    (await main.transact(work)).result
  return {
    calls: { query: main.query, engine: 'postgres' },
    transactCalls,
    insertCalls: createBatchInsert(main),
    // Only SQLite has blocks.
    mergeCalls: async () => false,
    forgetCalls: async (old) => await transactCalls(async (tx) => await forgetRows(tx, old)),
  }
}

async function refuseBackup(): Promise<never> {
  throw new Error('A PostgreSQL database is backed up with pg_dump, and restored with pg_restore.')
}

function openSlowReads(settings: pg.PoolConfig): Db {
  const pool = openPool({
    ...settings,
    max: slowReadConnections,
    statement_timeout: slowReadMs,
    query_timeout: slowReadMs + statementTimeoutMs,
    // A read behind other slow ones should wait for its turn rather than be refused.
    waitMs: slowReadMs,
  })
  return {
    query: new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }),
    engine: 'postgres',
  }
}

interface LaneDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  readonly ledger: LedgerSettings
}

function openLane(
  settings: pg.PoolConfig,
  { clock, ledger }: LaneDeps,
): BackgroundLane & { pool(): PoolState } {
  const pool = openPool(settings)
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })

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

  const alone = async <T>(work: (tx: Tx) => Promise<T>) =>
    await again(async () => await commit(work))

  const queues = new CommitQueues({
    alone,
    isWorthAnotherTry,
    monotonic: () => clock.monotonic(),
    waitMs: maxQueueMs,
    shared: async (works) =>
      (await commit(async (tx, collected) => await works(withSavepoints(tx, collected)), true))
        .changes,
  })

  return {
    query,
    transact: async (work, queue) =>
      queue === undefined ? await alone(work) : await queues.commit(queue, work),
    autocommit: async (work) => {
      const db = { query, engine: 'postgres' as const, ...ledger }
      return await again(async () => await work(createTransaction(db, clock.now()).transaction))
    },
    pool: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  }
}

function withSavepoints(transaction: Tx, collected: Collected): SharedTransaction {
  const run = async (statement: string): Promise<void> =>
    void (await sql.raw(statement).execute(transaction.query))
  return {
    transaction,
    collected,
    // The savepoint is nested in the previous one, because releasing that one first would cost another round trip.
    mark: async () => await run('savepoint work'),
    goBack: async () => await run('rollback to savepoint work'),
  }
}

function sumOf(pools: readonly PoolState[]): PoolState {
  const sum = (name: keyof PoolState) => pools.reduce((total, pool) => total + pool[name], 0)
  return { open: sum('open'), idle: sum('idle'), waiting: sum('waiting') }
}

// 40001 serialization_failure, 40P01 deadlock_detected, 25P03 idle_in_transaction_session_timeout; EPIPE: the session
// had ended before the statement was sent whole. Nothing was committed, so the whole transaction may be retried.
const nothingCommitted: readonly unknown[] = ['40001', '40P01', '25P03', 'EPIPE']

async function again<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (attempt >= attemptsOfTransaction || !isWorthAnotherTry(error)) throw error
    }
  }
}

function isWorthAnotherTry(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return nothingCommitted.includes(code) || isPlanGone(error)
}

/** Returns the parser for a type. A bigint becomes a number, because all our values of that type stay below 2^53. */
function typeParser(oid: number, format?: 'text' | 'binary'): unknown {
  const int8 = 20
  return oid === int8 ? Number : pg.types.getTypeParser(oid, format)
}
