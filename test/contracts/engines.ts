import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/clock.ts'
import { openStore, type Engine, type Store } from '../../src/store/index.ts'
import { postgresForTests } from '../harness/postgres.ts'

/** A database for a test. Several stores can be open on it at once, like those of several processes. */
export interface Place {
  readonly engine: Engine
  readonly databaseUrl: string | undefined
  readonly folder: string
  open(options?: { isNode?: boolean; clock?: Clock }): Promise<Store>
  [Symbol.asyncDispose](): Promise<void>
}

export const engines: readonly Engine[] = ['sqlite', 'postgres']

/**
 * Creates an empty database. On PostgreSQL, it already has its tables if `migrated`. Otherwise the first store that
 * opens the database creates them.
 */
export async function emptyPlace(engine: Engine, { migrated = true } = {}): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'intercept-test-'))
  const database = engine === 'postgres' ? await postgresForTests({ migrated }) : undefined
  const databaseUrl = database?.url
  return {
    engine,
    databaseUrl,
    folder,
    open: async (options = {}) =>
      await openStore({
        databaseUrl,
        folder,
        clock: options.clock ?? systemClock,
        isNode: options.isNode ?? false,
      }),
    async [Symbol.asyncDispose]() {
      await database?.[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
