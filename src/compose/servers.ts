import { FailedCredentials, spareLookUps } from '../access/index.ts'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { registerApi } from '../api/index.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createGateway, type Gateway } from '../gateway/index.ts'
import {
  answerWith,
  createApp,
  createFront,
  requestIdOf,
  watchMethods,
  type Acceptor,
  type App,
} from '../http/index.ts'
import { registerPages } from '../pages/index.ts'
import {
  createReadiness,
  registerMetrics,
  registerOperations,
  type Readiness,
} from '../operations/index.ts'
import type { Domain } from './domain.ts'
import { reportRequests } from './requests.ts'
import { registerScim, scimRefusals } from '../scim/index.ts'
import { registerSignin, openProviders } from '../signin/index.ts'
import { asStorageProblem } from '../store/index.ts'
import { gatewayPrefix } from '../targets/index.ts'

/** The servers with their routes; they accept no connections before `listen`. */
export interface Servers extends AsyncDisposable {
  readonly gateway: Gateway
  readonly readiness: () => Promise<Readiness>
  /** Opens the listeners; closing them gives requests in progress time to finish. */
  listen(): Promise<Listening>
}

type Listening = AsyncDisposable & { readonly address: string; readonly port: number }

/** Registers all routes on the app, and creates the listener in front of the app and the gateway. */
export async function openServers(
  config: Config,
  services: Infrastructure & Domain & { readonly acceptor: Acceptor | undefined },
): Promise<Servers> {
  await using opened = new AsyncDisposableStack()
  const { baseUrl, authUrl, keySchemes: enabledSchemes } = config
  const ending = new Ending()
  const readiness = createReadiness({
    feed: services.store.feed,
    status: () => services.store.status(),
    isDraining: () => ending.isDraining,
  })
  const { acceptor, clock, log, metrics, refusedByStorage } = services
  const appDeps: AppDeps = {
    ...{ baseUrl, requestIdOf, log, refusedByStorage },
    bodyLimitBytes: config.limits.jsonBodyBytes,
    translate: asStorageProblem,
  }
  const app = createApp({
    ...appDeps,
    ownRefusals: [scimRefusals],
    onEnd: reportRequests(services),
  })
  const refuseOtherMethods = watchMethods(app)
  registerRoutes(app, config, { ...services, readiness, stopping: ending.stopping })
  refuseOtherMethods()
  await app.ready()

  const { failedCredentials, requestHeadBytes: headBytes, urlBytes, keepAliveMs } = config.limits
  const { callRecords, metricsTargets } = config
  const gateway = opened.use(
    createGateway({
      ...{ ...services, baseUrl, authUrl },
      ...{ enabledSchemes, failedCredentials, callRecords, metricsTargets },
    }),
  )
  const front = createFront({
    handleGateway: (exchange) => gateway.handle(exchange),
    handleApp: answerWith(app),
    limits: { headBytes, urlBytes, keepAliveMs },
    lane: config.httpLane,
    acceptor,
    ...{ gatewayPrefix, baseUrl, ownRefusals: [scimRefusals], clock, log },
  })

  const closing = opened.move()
  return {
    gateway,
    readiness,
    async listen() {
      const openMetrics = () => openMetricsApp(appDeps, { readiness, metrics })
      return await listen(config, services, { ending, gateway, front, openMetrics })
    },
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

async function listen(
  config: Config,
  { webhooks }: Pick<Domain, 'webhooks'>,
  {
    ending,
    gateway,
    front,
    openMetrics,
  }: {
    readonly ending: Ending
    readonly gateway: Gateway
    readonly front: ReturnType<typeof createFront>
    readonly openMetrics: () => App
  },
): Promise<Listening> {
  await using listening = new AsyncDisposableStack()
  // The listener for metrics and probes opens first and closes last, so that probes work until the last request has
  // ended.
  if (config.metricsPort !== undefined) {
    const metricsApp = listening.use(openMetrics())
    await metricsApp.listen({ host: config.host, port: config.metricsPort })
  }
  const { address, port } = await front.listen({ host: config.host, port: config.port })
  listening.defer(async () => {
    ending.announce()
    front.leave()
    if (config.lameDuckMs > 0) await setTimeout(config.lameDuckMs)
    ending.stop()
    gateway.endStreams()
    // Delivery attempts may take until their own deadline, so they are stopped while requests finish, not after that.
    webhooks.stopSending()
    await front.drain(config.limits.drainMs)
  })
  const closingListeners = listening.move()
  const end = async () => await closingListeners.disposeAsync()
  return { address, port, [Symbol.asyncDispose]: end }
}

type AppDeps = Omit<Parameters<typeof createApp>[0], 'ownRefusals' | 'onEnd'>

/**
 * The state of shutting down. First, the readiness probe fails, so that load balancers send nothing new; then
 * open-ended responses are aborted.
 */
class Ending {
  readonly #stopping = new AbortController()
  isDraining = false

  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  announce(): void {
    this.isDraining = true
  }

  stop(): void {
    this.#stopping.abort()
  }
}

function registerRoutes(
  app: App,
  config: Config,
  services: Infrastructure &
    Domain & { readonly readiness: () => Promise<Readiness>; readonly stopping: AbortSignal },
): void {
  const { clock, log, metrics, readiness, rates } = services
  const { baseUrl, authUrl, limits, signUp, retention } = config
  const { failedCredentials } = limits
  const translate = asStorageProblem
  const providers = openProviders(config, services)
  registerSignin(app, {
    ...{ ...services, baseUrl, authUrl, providers, translate },
    failures: failedCredentials,
  })
  registerScim(app, {
    ...{ ...services, baseUrl, translate, failedCredentials },
    limits: scimLimits(limits),
  })
  registerApi(app, {
    ...services,
    services: {
      ...{ ...services, baseUrl, signUp, retention },
      targetCache: services.targetCache,
      jsonDepth: limits.jsonDepth,
      maxScimTokens: limits.scimTokens,
      findings: new FailedCredentials({
        ...{ clock, failures: failedCredentials, spare: spareLookUps },
        shared: { rates, kind: 'access_token' },
      }),
      providers: providers.map(({ name }) => name),
    },
  })
  registerOperations(app, { readiness, metrics })
  registerPages(app, { baseUrl, log })
}

function openMetricsApp(
  deps: AppDeps,
  services: {
    readonly readiness: () => Promise<Readiness>
    readonly metrics: Infrastructure['metrics']
  },
): App {
  const app = createApp(deps)
  const refuseOtherMethods = watchMethods(app)
  registerMetrics(app, services)
  refuseOtherMethods()
  return app
}

function scimLimits(limits: Config['limits']) {
  return {
    bodyBytes: limits.scimBodyBytes,
    bulkBodyBytes: limits.scimBulkBodyBytes,
    bulkOperations: limits.scimBulkOperations,
    filterCharacters: limits.scimFilterCharacters,
    filterDepth: limits.scimFilterDepth,
    requests: limits.scim,
  }
}
