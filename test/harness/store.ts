import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/clock.ts'
import { createSealer } from '../../src/secrets/index.ts'
import { openStore, type Engine, type Store } from '../../src/store/index.ts'
import { postgresForTests } from './postgres.ts'

/** The engines on which the store is tested. */
export const engines: readonly Engine[] = ['sqlite', 'postgres']

/** An empty store on an engine; `another` opens the same database as a second node would. */
export interface TestStore extends AsyncDisposable {
  readonly store: Store
  readonly databaseUrl: string | undefined
  readonly folder: string
  another(): Promise<Store>
}

/** Authenticates the audit chains of test stores. */
const testSealer = createSealer(['a master secret of the tests, long enough'])

/** Opens an empty database on this engine. Disposal deletes the database. */
export async function storeForTests(
  engine: Engine,
  clock: Clock = steadyClock(),
): Promise<TestStore> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-test-'))
  const database = engine === 'postgres' ? await postgresForTests({ migrated: true }) : undefined
  const open = (): Promise<Store> =>
    openStore({
      databaseUrl: database?.url,
      folder,
      clock,
      isNode: true,
      poolSize: 4,
      authenticator: testSealer,
    })
  const opened = [await open()]
  return {
    store: opened[0]!,
    databaseUrl: database?.url,
    folder,
    another: async () => {
      const store = await open()
      opened.push(store)
      return store
    },
    [Symbol.asyncDispose]: async () => {
      for (const store of opened.toReversed()) await store[Symbol.asyncDispose]()
      await database?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface TestClock extends Clock {
  forward(milliseconds: number): void
}

/** Creates a clock whose wall time a test can move, while durations are measured correctly. */
export function steadyClock(): TestClock {
  let shift = 0
  return {
    now: () => Date.now() + shift,
    monotonic: () => performance.now(),
    forward: (milliseconds) => void (shift += milliseconds),
  }
}

/** Returns a clock whose monotonic time stands still, so that no time limit is reached. */
export function unhurried(clock: Clock): Clock {
  return { now: () => clock.now(), monotonic: () => 0 }
}
