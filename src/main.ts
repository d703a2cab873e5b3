import manifest from '../package.json' with { type: 'json' }
import type { Config } from './config.ts'
import { openServers } from './compose/servers.ts'
import { openInfrastructure, type Surroundings } from './compose/infrastructure.ts'
import { freePort, type Acceptor } from './http/index.ts'
import { openDomain } from './compose/domain.ts'
import { startSchedule } from './compose/schedule.ts'
import type { Readiness } from './operations/index.ts'
import type { MetricFamily } from './telemetry/index.ts'

/** A running node. */
export interface Running extends AsyncDisposable {
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /**
   * Returns a link that creates the first owner; undefined if the installation has been set up or has any user. Links
   * printed by other nodes stay valid.
   */
  setupLink(): Promise<string | undefined>
  /** Readiness and metrics, for the supervisor of several workers. */
  report(): Promise<Readiness & { readonly families: readonly MetricFamily[] }>
}

/** Opens infrastructure, domain and servers, then listens; closing happens in reverse order. */
export async function start(
  settings: Config,
  { acceptor, ...surroundings }: Surroundings & { readonly acceptor?: Acceptor | undefined } = {},
): Promise<Running> {
  await using opened = new AsyncDisposableStack()
  const config = await withKnownPort(settings)
  const { version } = manifest

  const infrastructure = opened.use(await openInfrastructure(config, { ...surroundings, version }))
  const domain = opened.use(await openDomain(config, infrastructure))
  const services = { ...infrastructure, ...domain }
  await domain.rates.start()
  await domain.webhooks.start()

  const servers = opened.use(await openServers(config, { ...services, acceptor }))
  opened.use(startSchedule(config, { ...services, gateway: servers.gateway }))
  const { address, port } = opened.use(await servers.listen())

  const { baseUrl } = config
  const { engine } = infrastructure.store
  infrastructure.log.info({ address, port, engine }, `Intercept listens at ${baseUrl}`)

  const closing = opened.move()
  return {
    baseUrl,
    host: address,
    port,
    setupLink: async () => await domain.links.setupLink({ keepOlder: true }),
    report: async () => ({
      ...(await servers.readiness()),
      families: await infrastructure.metrics.scrape(),
    }),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** Chooses a free port if PORT is 0 and BASE_URL is not set, because our own URL must be known before the start. */
async function withKnownPort(config: Config): Promise<Config> {
  if (config.port !== 0 || !config.baseUrlFollowsPort) return config
  const port = await freePort(config.host)
  const baseUrl = `http://localhost:${port}`
  const authUrl = config.authUrl === config.baseUrl ? baseUrl : config.authUrl
  return { ...config, port, baseUrl, authUrl }
}
