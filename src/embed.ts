/** Runs a node inside another program: for tools, and for tests of projects that use Intercept. */
import { ConfigError, readConfig } from './config.ts'
import { start as startNode } from './main.ts'

export { ConfigError } from './config.ts'

/** Settings, named like the environment variables: `{ PORT: '0', DATA_DIR: './data' }`. */
export type Settings = Readonly<Record<string, string | undefined>>

/** A running node; disposing of it (`await using`) stops it, and gives open requests time to finish. */
export interface RunningNode extends AsyncDisposable {
  /** The URL of the API and the dashboard. Without BASE_URL, it has the actual port, even with `PORT: '0'`. */
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /** Returns a link that creates the first owner; undefined if the installation has been set up or has any user. */
  setupLink(): Promise<string | undefined>
}

/**
 * Starts a node that is listening when the promise resolves. Only the given settings count; the environment is not
 * read. Throws a `ConfigError` if settings are invalid.
 */
export async function start(settings: Settings = {}): Promise<RunningNode> {
  refuseOtherThanText(settings)
  return await startNode(readConfig(settings))
}

/** Refuses values such as the number 8080, which programs without types may well hand in. */
function refuseOtherThanText(settings: Readonly<Record<string, unknown>>): void {
  const wrong = Object.entries(settings).filter(
    ([, value]) => value !== undefined && typeof value !== 'string',
  )
  if (wrong.length === 0) return
  throw new ConfigError(wrong.map(([name]) => `${name} must be a string.`))
}
