import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { ResolveTxt } from '../../src/http/index.ts'
import { loadMasterSecrets } from '../../src/secrets/index.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { start } from '../../src/main.ts'
import type { Engine } from '../../src/store/index.ts'
import { portForTests } from './ports.ts'
import { postgresForTests } from './postgres.ts'
import { steadyClock, type TestClock } from './store.ts'

/** The whole product in this process, on its own port. */
export interface TestProduct extends AsyncDisposable {
  readonly baseUrl: string
  readonly port: number
  readonly folder: string
  /** The environment that lets the command line work on the same database. */
  readonly env: Readonly<Record<string, string>>
  readonly clock: TestClock
  /**
   * Stops the node as a deployment would and starts it again on the same port and data, optionally with changed
   * settings.
   */
  restart(changed?: Readonly<Record<string, string>>): Promise<void>
  /** Starts another node on the same database, with its own port and otherwise the same settings. */
  anotherNode(): Promise<{ readonly port: number; readonly stop: () => Promise<void> }>
}

interface ProductOptions {
  readonly engine?: Engine
  readonly settings?: Readonly<Record<string, string>>
  /** Resolves TXT records for the product, in place of the DNS. */
  readonly resolveTxt?: ResolveTxt
}

/** With `HTTP_LANE=standard`, products for tests use that lane, unless a test's own settings name another one. */
const lane = process.env['HTTP_LANE']
const laneOfTests = lane === undefined ? {} : { HTTP_LANE: lane }

/** Starts the product on a free port with an empty database; `settings` are further environment variables. */
export async function productForTests(options: ProductOptions = {}): Promise<TestProduct> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-product-'))
  const database =
    options.engine === 'postgres' ? await postgresForTests({ migrated: true }) : undefined
  // A node generates a master key only for a database without tables. This one has tables, so create the key here.
  if (database && !options.settings?.['INTERCEPT_SECRET']) loadMasterSecrets(undefined, folder)
  const clock = steadyClock()
  const env = {
    HOST: '127.0.0.1',
    PORT: String(await portForTests()),
    DATA_DIR: folder,
    LOG_LEVEL: 'silent',
    ...laneOfTests,
    LIMIT_FAILED_CREDENTIALS: 'off',
    LIMIT_SCIM: 'off',
    ...(database ? { DATABASE_URL: database.url } : {}),
    ...options.settings,
  }
  const dns = options.resolveTxt === undefined ? {} : { resolveTxt: options.resolveTxt }
  const log = createLog({ level: 'silent', pretty: false })
  let running = await start(readConfig(env), { clock, log, ...dns })
  const others: (() => Promise<void>)[] = []
  return {
    baseUrl: running.baseUrl,
    port: running.port,
    folder,
    env: { ...env, PORT: String(running.port), BASE_URL: running.baseUrl },
    clock,
    async restart(changed = {}) {
      const { port, baseUrl } = running
      await running[Symbol.asyncDispose]()
      const settings = { ...env, PORT: String(port), BASE_URL: baseUrl, ...changed }
      running = await start(readConfig(settings), { clock, log, ...dns })
    },
    async anotherNode() {
      const settings = { ...env, PORT: '0', BASE_URL: running.baseUrl }
      const node = await start(readConfig(settings), { clock, log, ...dns })
      const stop = async (): Promise<void> => await node[Symbol.asyncDispose]()
      others.push(stop)
      return { port: node.port, stop }
    },
    [Symbol.asyncDispose]: async () => {
      for (const stop of others) await stop()
      await running[Symbol.asyncDispose]()
      await database?.[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
