/** A node inside another program: for tests of projects that stand behind Intercept, and for tools. */
import { readConfig } from './config.ts'
import { start as startNode } from './main.ts'

export { ConfigError } from './config.ts'

/** Settings by the names that they have as environment variables, such as `{ PORT: '0', DATA_DIR: './data' }`. */
export type Settings = Readonly<Record<string, string | undefined>>

/** A running node; dispose of it (`await using`) to stop it: open requests finish first. */
export interface RunningNode extends AsyncDisposable {
  /** Where programs and people reach it; with `PORT: '0'` the port is chosen by the system. */
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /** A link that makes the first owner, or undefined once there is one. */
  setupLink(): Promise<string | undefined>
}

/**
 * Starts a node that listens when the promise resolves. Only these settings count; the environment is not read.
 * Throws a `ConfigError` that names every wrong setting.
 */
export async function start(settings: Settings = {}): Promise<RunningNode> {
  return await startNode(readConfig(settings))
}
