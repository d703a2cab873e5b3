import { hostname, userInfo } from 'node:os'
import { systemClock, type Clock } from '../../clock.ts'
import { readConfig, type Config } from '../../config.ts'
import {
  createSealer,
  loadMasterSecretsFor,
  MissingMasterKey,
  sealerWithoutKey,
  type Sealer,
} from '../../secrets/index.ts'
import type { Actor, Store } from '../../store/index.ts'
import type { Remote } from '../remote/connection.ts'
import { onlyLocal } from '../remote/values.ts'
import type { Terminal } from './terminal.ts'

export interface Services {
  readonly config: Config
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly actor: Actor
  /** Set if the command works over a running Intercept's API; using `config`, `store` or `sealer` then throws. */
  readonly remote: Remote | undefined
}

/** Runs a function with services, on the database or over the API. */
export async function withServices<T>(
  terminal: Terminal,
  work: (services: Services) => Promise<T>,
  {
    creates = false,
    mayUpgrade = false,
  }: {
    /** Whether the command may create the database; without this, it fails if there is none. */
    readonly creates?: boolean
    /** Whether the command may upgrade the schema, which nodes of an older version may be using. */
    readonly mayUpgrade?: boolean
  } = {},
): Promise<T> {
  const { remote } = terminal
  if (remote !== undefined) return await work(overTheApi(remote))
  const config = readConfig(terminal.env)
  if (!creates) await requireDatabase(config)
  const sealer = await openSealer(config)
  const { openStore } = await import('../../store/index.ts')
  await using store = await openStore({
    databaseUrl: config.databaseUrl,
    folder: config.dataDir,
    clock: systemClock,
    followsDatabaseClock: true,
    isNode: false,
    mayUpgrade,
    poolSize: 2,
    maxEventBytes: config.limits.webhookBodyBytes,
    authenticator: sealer,
  })
  return await work({
    ...{ config, store, sealer, clock: store.clock },
    ...{ actor: operator(), remote: undefined },
  })
}

function overTheApi(remote: Remote): Services {
  const [config, store, sealer] = [onlyLocal(), onlyLocal(), onlyLocal()]
  return { config, store, sealer, clock: remote.clock, actor: operator(), remote }
}

/** Thrown if a command needs a database and none exists. */
export class DatabaseMissing extends Error {
  constructor(where: string) {
    super(`There is no database ${where} yet; \`intercept serve\` makes one.`)
    this.name = 'DatabaseMissing'
  }
}

async function requireDatabase({ databaseUrl, dataDir: folder }: Config): Promise<void> {
  const { isInUse } = await import('../../store/index.ts')
  if (await isInUse({ databaseUrl, folder })) return
  throw new DatabaseMissing(
    databaseUrl === undefined ? `in ${folder} (DATA_DIR)` : 'at DATABASE_URL',
  )
}

/**
 * If the master key of a database in use is missing, no new key is created, and only commands that need the key fail.
 * Whatever writes to the audit log needs it too.
 */
async function openSealer({
  masterSecret: setting,
  dataDir: folder,
  databaseUrl,
}: Config): Promise<Sealer> {
  const { isInUse } = await import('../../store/index.ts')
  try {
    const inUse = async (): Promise<boolean> => await isInUse({ databaseUrl, folder })
    return createSealer(await loadMasterSecretsFor({ setting, folder, isInUse: inUse }))
  } catch (error) {
    if (error instanceof MissingMasterKey) return sealerWithoutKey(error)
    throw error
  }
}

/** The actor recorded in the audit log for the command line's actions. */
export function operator(): Actor {
  return { kind: 'operator', name: `${userName()}@${hostname()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user id may have no name, as is common in containers.
    return String(process.getuid?.() ?? 'operator')
  }
}
