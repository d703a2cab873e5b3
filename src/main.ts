import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { hangDoors } from './doors.ts'
import { openFoundations, type Surroundings } from './foundations.ts'
import { freePort } from './http/index.ts'
import { openRules } from './rules.ts'
import { startTasks } from './tasks.ts'

/** What a running Intercept tells of itself. */
export interface Running extends AsyncDisposable {
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /** A link that makes the first owner, or undefined when there is one; links that other nodes printed stay. */
  setupLink(): Promise<string | undefined>
}

/** The whole story: open the rooms, hang the doors, listen; closing goes in reverse. */
export async function start(settings: Config, surroundings: Surroundings = {}): Promise<Running> {
  await using opened = new AsyncDisposableStack()
  const config = await withKnownPort(settings)
  const { version } = manifest

  const foundations = opened.use(await openFoundations(config, { ...surroundings, version }))
  const rules = opened.use(await openRules(config, foundations))
  const rooms = { ...foundations, ...rules }
  await rules.webhooks.start()

  const doors = opened.use(await hangDoors(config, rooms))
  opened.use(startTasks(config, { ...rooms, gateway: doors.gateway }))
  const { address, port } = opened.use(await doors.listen())

  const { baseUrl } = config
  const { engine } = foundations.store
  foundations.log.info({ address, port, engine }, `Intercept listens at ${baseUrl}`)

  const closing = opened.move()
  return {
    baseUrl,
    host: address,
    port,
    setupLink: async () => await rules.links.setupLink({ keepOlder: true }),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** With `PORT=0` our own address is only known once a port is chosen. */
async function withKnownPort(config: Config): Promise<Config> {
  if (config.port !== 0 || !config.baseUrlFollowsPort) return config
  const port = await freePort(config.host)
  const baseUrl = `http://localhost:${port}`
  const authUrl = config.authUrl === config.baseUrl ? baseUrl : config.authUrl
  return { ...config, port, baseUrl, authUrl }
}
