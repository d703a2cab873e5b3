import { FailedCredentials } from '../access/index.ts'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../config.ts'
import { registerApi } from '../api/index.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createGateway, type Gateway } from '../gateway/index.ts'
import { answerWith, createApp, createFront, requestIdOf, watchMethods } from '../http/index.ts'
import { registerPages } from '../pages/index.ts'
import {
  createReadiness,
  registerMetrics,
  registerOperations,
  type Readiness,
} from '../operations/index.ts'
import type { Domain } from './domain.ts'
import { measureRequests } from './measure.ts'
import { registerScim, scimRefusals } from '../scim/index.ts'
import { registerSignin, openProviders } from '../signin/index.ts'
import { asStorageProblem } from '../store/index.ts'
import { gatewayPrefix } from '../targets/index.ts'

/** The doors on their hinges: nothing is heard before `listen`. */
export interface Servers extends AsyncDisposable {
  readonly gateway: Gateway
  readonly readiness: () => Readiness
  /** Opens the listeners; closing them drops nothing that is under way. */
  listen(): Promise<AsyncDisposable & { readonly address: string; readonly port: number }>
}

/** Hangs the doors: sign-in, SCIM, dashboard and operations on the app, the gateway beside it, one front before all. */
export async function openServers(
  config: Config,
  services: Infrastructure & Domain,
): Promise<Servers> {
  await using opened = new AsyncDisposableStack()
  const { clock, log, metrics, store } = services
  const { baseUrl, authUrl } = config
  const translate = asStorageProblem
  const providers = openProviders(config, services)
  // `leaving`: load balancers are told; `stopping`: what has no end of its own is ended.
  let leaving = false
  const stopping = new AbortController()
  const readiness = createReadiness({
    feed: store.feed,
    status: store.status,
    isDraining: () => leaving,
  })
  const bodyLimitBytes = config.limits.jsonBodyBytes
  const { refusedByStorage } = services
  const appDeps = { baseUrl, bodyLimitBytes, requestIdOf, translate, log, refusedByStorage }
  const onEnd = measureRequests(metrics)

  const ownRefusals = [scimRefusals]
  const app = createApp({ ...appDeps, ownRefusals, onEnd })
  const refuseOtherMethods = watchMethods(app)
  registerSignin(app, {
    ...{ ...services, baseUrl, authUrl, providers, translate },
    failures: config.limits.failedCredentials,
    part: services.rates.part,
  })
  registerScim(app, {
    ...{ ...services, baseUrl, translate },
    limits: scimLimits(config.limits),
    failedCredentials: config.limits.failedCredentials,
  })
  registerApi(app, {
    ...services,
    services: {
      ...services,
      ...{ baseUrl, stopping: stopping.signal, targetCache: services.register },
      jsonDepth: config.limits.jsonDepth,
      maxScimTokens: config.limits.scimTokens,
      signUp: config.signUp,
      retention: config.retention,
      findings: new FailedCredentials({
        clock,
        failures: config.limits.failedCredentials,
        part: services.rates.part,
      }),
      providers: providers.map(({ name }) => name),
    },
  })
  registerOperations(app, { readiness, metrics })
  registerPages(app, { baseUrl, log })
  refuseOtherMethods()
  await app.ready()

  const gateway = opened.use(
    createGateway({
      ...{ ...services, baseUrl, authUrl },
      enabledSchemes: config.keySchemes,
      failedCredentials: config.limits.failedCredentials,
      callRecords: config.callRecords,
      metricsTargets: config.metricsTargets,
    }),
  )
  const front = createFront({
    handleGateway: gateway.handle,
    handleApp: answerWith(app),
    limits: { headBytes: config.limits.requestHeadBytes, urlBytes: config.limits.urlBytes },
    lane: config.httpLane,
    ...{ gatewayPrefix, baseUrl, ownRefusals, clock, log },
  })

  const closing = opened.move()
  return {
    gateway,
    readiness,
    async listen() {
      await using listening = new AsyncDisposableStack()
      // Opened first, so that probes are answered until the last request has ended.
      if (config.metricsPort !== undefined) {
        const own = createApp(appDeps)
        const refuseOthers = watchMethods(own)
        registerMetrics(own, { readiness, metrics })
        refuseOthers()
        listening.defer(async () => await own.close())
        await own.listen({ host: config.host, port: config.metricsPort })
      }
      const { address, port } = await front.listen({ host: config.host, port: config.port })
      listening.defer(async () => {
        leaving = true
        if (config.lameDuckMs > 0) await setTimeout(config.lameDuckMs)
        stopping.abort()
        gateway.endStreams()
        // Attempts under way take up to their own deadline: beside the requests, not behind them.
        services.webhooks.stopSending()
        await front.drain(config.limits.drainMs)
      })
      const ending = listening.move()
      const end = async () => await ending.disposeAsync()
      return { address, port, [Symbol.asyncDispose]: end }
    },
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
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
