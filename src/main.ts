import {
  checkMasterKey,
  createKeyring,
  createKeys,
  createSessions,
  openSigningKeys,
} from './access/index.ts'
import { createAudit, createDenials, createTraffic } from './audit/index.ts'
import { systemClock, type Clock } from './clock.ts'
import type { Config } from './config.ts'
import { hangDashboard, type Rooms } from './dashboard/index.ts'
import { createGateway, gatewayPrefix } from './gateway/index.ts'
import {
  answerWith,
  createAddressGuard,
  createApp,
  createClientAddresses,
  createFront,
  createOutbound,
  createResolver,
  createTxtResolver,
  createUpstreams,
  freePort,
  peerAddress,
  requestIdOf,
  systemResolve,
  type AppRequest,
  type ResolveTxt,
} from './http/index.ts'
import { createLog, type Log } from './log/index.ts'
import { createMetrics, measureProcess, type Metrics } from './metrics/index.ts'
import { createReadiness, hangMetrics, hangOperations } from './operations/index.ts'
import { createRelyingParty } from './oidc/index.ts'
import {
  createDirectories,
  createInvitations,
  createLinks,
  createMembers,
  createOrganizations,
  createPeople,
  createPost,
  createSso,
} from './organizations/index.ts'
import { hangScim } from './scim/index.ts'
import { createSealer, loadMasterSecrets, randomToken } from './secrets/index.ts'
import { hangSignin, openProviders } from './signin/index.ts'
import { asStorageProblem, openStore } from './store/index.ts'
import {
  createLimits,
  createQuotas,
  createTargetRegister,
  createTargets,
  defaultSettings,
} from './targets/index.ts'
import { every } from './timers.ts'
import { createTracer, type Tracer } from './traces/index.ts'
import manifest from '../package.json' with { type: 'json' }
import { createWebhooks } from './webhooks/index.ts'

const keysInMemory = 1_000_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const { version } = manifest

/** What a running Intercept tells of itself. */
export interface Running extends AsyncDisposable {
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  /** A link that makes the first owner, or undefined when there is one; older links end. */
  setupLink(): Promise<string | undefined>
}

/** What tests and the command line hand in instead of the usual. */
export interface Surroundings {
  readonly clock?: Clock
  readonly log?: Log
  /** The DNS that domains are verified by. */
  readonly resolveTxt?: ResolveTxt
}

/** The whole story: open the rooms, hang the doors, listen; closing goes in reverse. */
export async function start(settings: Config, surroundings: Surroundings = {}): Promise<Running> {
  await using opened = new AsyncDisposableStack()
  const config = await withKnownPort(settings)
  const clock = surroundings.clock ?? systemClock
  const log =
    surroundings.log ?? createLog({ level: config.logLevel, pretty: process.stdout.isTTY })
  const { baseUrl } = config

  // Foundations.
  const sealer = createSealer(loadMasterSecrets(config.masterSecret, config.dataDir))
  const store = opened.use(
    await openStore({
      databaseUrl: config.databaseUrl,
      folder: config.dataDir,
      clock,
      isNode: true,
      eventBytesMost: config.limits.webhookBodyBytes,
    }),
  )
  await checkMasterKey(store, sealer)
  const openings = { allowCidrs: config.outboundAllowCidrs, allowLoopback: config.loopbackIsOpen }
  const outbound = opened.use(createOutbound(openings))
  const guard = createAddressGuard(openings)
  const resolve = createResolver(systemResolve, () => clock.monotonic())
  const upstreams = opened.use(createUpstreams({ clock, guard, resolve }))
  const addresses = createClientAddresses(config.trustedProxies)
  const addressOf = (request: AppRequest): string =>
    addresses.of(peerAddress(request), request.headers['x-forwarded-for']?.toString())
  const metrics = createMetrics()
  opened.defer(measureProcess(metrics))
  const tracer = openTracer(config.otlpEndpoint, { metrics, log }, opened)

  const relyingParty = createRelyingParty({
    fetch: outbound.fetch,
    clock,
    allowLoopback: config.loopbackIsOpen,
    mintTokenId: randomToken,
  })

  // Rules.
  const signingKeys = await openSigningKeys({ store, sealer, clock })
  const keys = createKeys({ store, clock })
  const sessions = createSessions({
    store,
    clock,
    signingKeys,
    format: config.sessionFormat,
    issuer: config.authUrl,
    audience: baseUrl,
    lifetimeMs: config.limits.sessionMs,
    idleMs: config.limits.sessionIdleMs,
  })
  const enabledSchemes = config.keySchemes
  const keyring = createKeyring({ store, clock, enabledSchemes, capacity: keysInMemory })
  const targetDefaults = defaultSettings(config.limits.bodyBytes)
  const register = createTargetRegister({ store, sealer, defaults: targetDefaults })
  const quotas = createQuotas(store)
  const limits = createLimits({ clock, quotas })
  const post = opened.use(await createPost({ smtpUrl: config.smtpUrl, baseUrl, log }))
  const providers = openProviders(config, { outbound, relyingParty })
  const people = createPeople({ store, sealer, clock, sessions, signUp: config.signUp })
  const links = createLinks({ store, clock, baseUrl })
  const directories = opened.use(
    createDirectories({
      ...{ store, clock, sealer },
      endSessions: async (tx, userId, why) => await sessions.endIn(tx, userId, {}, why),
      mostTokens: config.limits.scimTokens,
      cursorTimeoutMs: dayMs,
    }),
  )
  const sso = createSso({
    store,
    sealer,
    clock,
    relyingParty,
    resolveTxt: surroundings.resolveTxt ?? createTxtResolver(),
    directory: directories.signIn,
    authUrl: config.authUrl,
    allowLoopback: config.loopbackIsOpen,
  })
  const webhooks = opened.use(
    createWebhooks({
      store,
      sealer,
      clock,
      outbound,
      log,
      deliveriesKeptMs: config.retention.deliveriesMs,
      endpointsMost: config.limits.webhookEndpoints,
      metrics,
    }),
  )
  const audit = createAudit({ store })
  const stopping = new AbortController()
  const rooms: Rooms = {
    jsonDepth: config.limits.jsonDepth,
    store,
    sealer,
    clock,
    baseUrl,
    sessions,
    keys,
    organizations: createOrganizations({ store, clock }),
    people,
    members: createMembers({ store, clock, sessions, policies: sso.policies }),
    invitations: createInvitations({ store, clock, baseUrl, post }),
    links,
    sso,
    directories,
    scimTokensMost: config.limits.scimTokens,
    audit,
    denials: createDenials({ store, clock, log }),
    stopping: stopping.signal,
    targets: createTargets({ store, sealer, clock, guard, defaults: targetDefaults }),
    targetRegister: register,
    limits,
    traffic: createTraffic({ store, clock }),
    outbound,
    webhooks,
    signUp: config.signUp,
    providers: providers.map(({ name }) => name),
  }

  const again = (task: string) => (err: unknown) => log.error({ err, task }, 'a task failed')
  opened.use(every(minuteMs, async () => await keys.announceExpired(), again('announceExpired')))
  opened.use(every(minuteMs, async () => await keys.announceSilent(), again('announceSilent')))
  opened.use(every(minuteMs, async () => await sso.domains.checkDue(), again('checkDomains')))
  opened.use(every(hourMs, async () => await sso.outcomes.forget(), again('forgetSso')))
  opened.use(every(hourMs, async () => await signingKeys.rotate(), again('rotate')))
  opened.use(every(hourMs, async () => await sessions.forget(), again('forgetSessions')))
  opened.use(
    every(
      hourMs,
      async () => await audit.forget(clock.now() - config.retention.auditMs),
      again('forgetAudit'),
    ),
  )

  await webhooks.start()

  // Doors.
  let isDraining = false
  const readiness = createReadiness({ feed: store.feed, isDraining: () => isDraining })
  const appNeeds = {
    baseUrl,
    bodyLimitBytes: config.limits.jsonBodyBytes,
    requestIdOf,
    translate: asStorageProblem,
    log,
  }
  const app = createApp(appNeeds)
  hangSignin(app, {
    ...{ store, sealer, clock, signingKeys, sessions, people, links, providers, addressOf, log },
    ...{ sso, relyingParty, baseUrl },
    authUrl: config.authUrl,
    translate: asStorageProblem,
  })
  hangScim(app, {
    ...{ directories, clock, baseUrl, addressOf, log },
    translate: asStorageProblem,
    limits: {
      bodyBytes: config.limits.scimBodyBytes,
      bulkBodyBytes: config.limits.scimBulkBodyBytes,
      bulkOperations: config.limits.scimBulkOperations,
      filterCharacters: config.limits.scimFilterCharacters,
      filterDepth: config.limits.scimFilterDepth,
      requests: rateOf(config.limits.scim),
    },
  })
  hangDashboard(app, { rooms, version, addressOf, log })
  hangOperations(app, { readiness, metrics })
  await app.ready()

  const gateway = opened.use(
    createGateway({
      ...{ store, clock, log, metrics, keyring, signingKeys, register, limits, quotas },
      ...{ upstreams, addresses, enabledSchemes, baseUrl, authUrl: config.authUrl, tracer },
      failedCredentials: rateOf(config.limits.failedCredentials),
    }),
  )
  const forgetCalls = async () => await gateway.forget(clock.now() - config.retention.callsMs)
  opened.use(every(hourMs, forgetCalls, again('forgetCalls')))
  const front = createFront({
    handleGateway: gateway.handle,
    handleApp: answerWith(app),
    gatewayPrefix,
    baseUrl,
    limits: { headBytes: config.limits.requestHeadBytes, urlBytes: config.limits.urlBytes },
    clock,
    log,
  })
  const { address, port } = await front.listen({ host: config.host, port: config.port })
  opened.defer(async () => {
    isDraining = true
    stopping.abort()
    gateway.endStreams()
    await front.drain(config.limits.drainMs)
  })
  if (config.metricsPort !== undefined) {
    const own = createApp(appNeeds)
    hangMetrics(own, { readiness, metrics })
    opened.defer(async () => await own.close())
    await own.listen({ host: config.host, port: config.metricsPort })
  }
  log.info({ address, port, engine: store.engine }, `Intercept listens at ${baseUrl}`)

  const closing = opened.move()
  return {
    baseUrl,
    host: address,
    port,
    setupLink: async () => await links.setupLink(),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** A rate of the settings as limiters take it. */
function rateOf(rate: { perSecond: number; burst: number } | undefined) {
  return rate && { calls: rate.perSecond, perSeconds: 1, burst: rate.burst }
}

/** Spans go to the operator's own collector, wherever that is. */
function openTracer(
  endpoint: string | undefined,
  needs: { metrics: Metrics; log: Log },
  opened: AsyncDisposableStack,
): Tracer | undefined {
  if (endpoint === undefined) return undefined
  const outbound = opened.use(
    createOutbound({ allowCidrs: ['0.0.0.0/0', '::/0'], allowLoopback: true }),
  )
  const request = {
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    deadlineMs: 5000,
    maxResponseBytes: 64 * 1024,
  }
  const post = async (body: string): Promise<void> => {
    const { status } = await outbound.request({ ...request, body })
    if (status >= 300) throw new Error(`the collector answered ${status}`)
  }
  return opened.use(createTracer({ ...needs, post, version }))
}

/** With `PORT=0` our own address is only known once a port is chosen. */
async function withKnownPort(config: Config): Promise<Config> {
  if (config.port !== 0 || !config.baseUrlFollowsPort) return config
  const port = await freePort(config.host)
  const baseUrl = `http://localhost:${port}`
  const authUrl = config.authUrl === config.baseUrl ? baseUrl : config.authUrl
  return { ...config, port, baseUrl, authUrl }
}
