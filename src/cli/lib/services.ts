import { hostname, userInfo } from 'node:os'
import { systemClock, type Clock } from '../../clock.ts'
import { readConfig, type Config } from '../../config.ts'
import { createSealer, loadMasterSecrets, type Sealer } from '../../secrets/index.ts'
import { openStore, type Actor, type Store } from '../../store/index.ts'
import type { Terminal } from './terminal.ts'

/** What most commands need; a running server hears of what they change through the change feed. */
export interface Rooms {
  readonly config: Config
  readonly store: Store
  readonly sealer: Sealer
  readonly clock: Clock
  readonly actor: Actor
}

/** Opens the same database as a running server, for the time of one piece of work. */
export async function withRooms<T>(
  terminal: Terminal,
  work: (rooms: Rooms) => Promise<T>,
): Promise<T> {
  const config = readConfig(terminal.env)
  const sealer = createSealer(loadMasterSecrets(config.masterSecret, config.dataDir))
  await using store = await openStore({
    databaseUrl: config.databaseUrl,
    folder: config.dataDir,
    clock: systemClock,
    followsDatabaseClock: true,
    isNode: false,
    poolSize: 2,
    eventBytesMost: config.limits.webhookBodyBytes,
    authenticator: sealer,
  })
  return await work({ config, store, sealer, clock: store.clock, actor: operator() })
}

/** Who stands in the audit log for what the command line did. */
export function operator(): Actor {
  return { kind: 'operator', name: `${userName()}@${hostname()}` }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In a container a user id often has no name.
    return String(process.getuid?.() ?? 'operator')
  }
}
