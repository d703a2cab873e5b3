import type { Clock } from '../clock.ts'
import type { Authenticator } from '../secrets/index.ts'
import type { Change } from './db/changes.ts'
import type { Tx } from './db/db.ts'
import type { EngineHandle, EngineLane } from './engine/engine.ts'
import { createCompanions } from './engine/companions.ts'
import { NodeLink, sharedClock, unconfirmed } from './engine/node-link.ts'
import type { HistoryChange } from './feed/feed.ts'
import type { Store } from './store.ts'

const usualPoolSize = 10

export interface StoreOptions {
  /** A postgres:// URL; without one, the database is SQLite in `folder`. */
  readonly databaseUrl?: string | undefined
  readonly folder: string
  readonly clock: Clock
  /** Whether `clock` is corrected to match the database's own clock; ignored on SQLite, which has none. */
  readonly followsDatabaseClock?: boolean | undefined
  /** Called when the database turns out to be a different server or to have lost changes. */
  readonly onHistory?: ((change: HistoryChange) => void) | undefined
  /** Called with the duration, in milliseconds, of each successful transaction of a caller on the main database. */
  readonly onTransaction?: ((tookMs: number) => void) | undefined
  /**
   * Whether this process serves requests: if so, it registers as a node, and other nodes wait for it to confirm
   * changes.
   */
  readonly isNode: boolean
  /**
   * Whether to apply pending migrations to an existing database (the default); if not, opening one that lacks
   * migrations throws `SchemaBehind`. An empty database always gets its schema.
   */
  readonly mayUpgrade?: boolean | undefined
  readonly poolSize?: number | undefined
  /** Maximum size of an event in bytes; defaults to 64 KiB. */
  readonly maxEventBytes?: number | undefined
  /** Computes the MACs of the heads and anchors of audit chains; without an authenticator, they have no MACs. */
  readonly authenticator?: Authenticator | undefined
}

/** Opens the database, brings its schema up to date and starts reading the change feed. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { authenticator, clock: machineClock, isNode, onHistory } = options
  const isDatabases = options.followsDatabaseClock === true && Boolean(options.databaseUrl)
  const clock = sharedClock(machineClock, isDatabases)
  const handle = await openEngine(options, clock)
  const link = await NodeLink.start(handle, { machineClock, clock, isNode, onHistory })
  const companions = createCompanions()

  async function transact<T>(
    work: (tx: Tx) => Promise<T>,
    { lane = handle, queue }: { lane?: EngineLane; queue?: string | undefined } = {},
  ): Promise<{ result: T; changes: Change[] }> {
    const startedAt = clock.monotonic()
    const accompanied = companions.accompany(work)
    const done = await link.throughLocks(async () => await lane.transact(accompanied, queue))
    options.onTransaction?.(clock.monotonic() - startedAt)
    link.feed.heardOwn(done.changes)
    return done
  }

  return {
    engine: handle.engine,
    query: handle.query,
    authenticator,
    background: {
      engine: handle.engine,
      query: handle.background.query,
      transaction: async (work) => (await transact(work, { lane: handle.background })).result,
    },
    ...callRecordsIn(handle, link),
    slowReads: { ...handle.slowReads, authenticator },
    feed: link.feed,
    clock,
    moment: () => link.moment(),
    pool: () => handle.pool?.(),
    status: () => link.status(),
    transaction: async (work) => (await transact(work)).result,
    transactionThatMayBeLost: async (work) =>
      (await transact(work, { lane: handle.mayBeLost })).result,
    accompanied: async (companion, work) => await companions.run(companion, work),
    async transactionConfirmed(work, { isNeeded, queue } = {}) {
      const lane = queue === undefined ? handle.urgent : handle
      const { result, changes } = await link.patiently(
        async () => await transact(work, { lane, queue }),
      )
      if (isNeeded?.(result) === false) return { result, confirmation: unconfirmed }
      return { result, confirmation: await link.confirm(changes.at(-1)) }
    },
    backup: async (path) => await handle.backup(path),
    async [Symbol.asyncDispose]() {
      await link[Symbol.asyncDispose]()
      await handle.close()
    },
  }
}

/** The part of the store that concerns the database of call records. */
function callRecordsIn(
  handle: EngineHandle,
  link: NodeLink,
): Pick<
  Store,
  | 'calls'
  | 'slowCallReads'
  | 'transactionOnCalls'
  | 'transactionOnCallsThroughLocks'
  | 'insertCalls'
  | 'mergeCalls'
  | 'forgetCalls'
> {
  return {
    calls: handle.calls,
    slowCallReads: handle.slowCallReads,
    transactionOnCalls: async (work) => await handle.transactCalls(work),
    transactionOnCallsThroughLocks: async (work) =>
      await link.throughLocks(async () => await handle.transactCalls(work)),
    insertCalls: async (rows, counts = []) => await handle.insertCalls(rows, counts),
    mergeCalls: async (olderThanMs) => await handle.mergeCalls(olderThanMs),
    forgetCalls: async (old) => await handle.forgetCalls(old),
  }
}

/** Loads only the driver that is needed, because the other would cost memory for nothing. */
async function openEngine(options: StoreOptions, clock: Clock): Promise<EngineHandle> {
  const { databaseUrl, folder, maxEventBytes, authenticator } = options
  const { mayUpgrade = true } = options
  const settings = { clock, ledger: { maxEventBytes, authenticator }, mayUpgrade }
  if (databaseUrl) {
    const { openPostgres } = await import('./engine/postgres/postgres.ts')
    const poolSize = options.poolSize ?? usualPoolSize
    return await openPostgres(databaseUrl, { ...settings, poolSize })
  }
  const { openSqlite } = await import('./engine/sqlite/sqlite.ts')
  return await openSqlite(folder, settings)
}
