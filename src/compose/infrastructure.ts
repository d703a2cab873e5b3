import { systemClock, type Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import {
  createAddressGuard,
  createClientAddresses,
  createOutbound,
  createResolver,
  createTxtResolver,
  createUpstreams,
  openEcho,
  peerAddress,
  systemResolve,
  type AppRequest,
  type ResolveTxt,
} from '../http/index.ts'
import {
  CollectorRefusal,
  createLog,
  createMetrics,
  createSampler,
  createTracer,
  measureProcess,
  openAccessLog,
  resourceOf,
  type Attributes,
  type Log,
  type Metrics,
} from '../telemetry/index.ts'
import { createRelyingParty } from '../oidc/index.ts'
import {
  createSealer,
  loadMasterSecretsFor,
  randomHex,
  randomToken,
  type Sealer,
} from '../secrets/index.ts'
import { asStorageProblem, isInUse, isKeptOut, openStore, type Store } from '../store/index.ts'
import { measureBuild, measureConnections, measureLocks } from './measure.ts'
import { logBesideOutages, reportHistory, watchStore } from './store-watch.ts'

const storeAgainMs = 500
// Statuses with which a collector refuses the body itself (bad request, content too large, unprocessable content); all
// other failures concern the collector or the network.
const refusesBody = new Set([400, 413, 422])

/** Replacements that tests and the command line hand in. */
export interface Surroundings {
  /** Replaces the clocks of this machine and of the database. */
  readonly clock?: Clock
  /** Replaces this machine's clock only; with PostgreSQL, the database's clock remains authoritative. */
  readonly machineClock?: Clock
  readonly log?: Log
  /** The DNS look-up that verifies domains. */
  readonly resolveTxt?: ResolveTxt
}

export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

/** Creates what the domain is built on: store, secrets, network and telemetry. */
export async function openInfrastructure(
  config: Config,
  surroundings: Surroundings & { readonly version: string },
) {
  await using opened = new AsyncDisposableStack()
  const log =
    surroundings.log ?? createLog({ level: config.logLevel, pretty: process.stdout.isTTY })

  const metrics = createMetrics()
  opened.defer(measureProcess(metrics))
  const sealer = await openSealer(config, log)
  const store = opened.use(await openDatabase(config, { ...surroundings, log, metrics, sealer }))
  const { clock } = store
  const outages = opened.use(watchStore({ store, log, metrics }))

  const network = await openNetwork(config, { clock, opened })
  const { version } = surroundings
  measureBuild(metrics, { version, engine: store.engine })
  measureConnections(metrics, { upstreams: network.upstreams, store })
  if (store.engine === 'postgres') measureLocks(metrics, store)
  const { serviceName, resourceAttributes: attributes } = config.telemetry
  const resource = resourceOf({ serviceName, attributes, version })
  const exports = openExports(config, { opened, clock, metrics, log, resource })
  const relyingParty = createRelyingParty({
    fetch: async (url, options) => await network.outbound.fetch(url, options),
    clock,
    allowLoopback: config.loopbackIsOpen,
    mintTokenId: randomToken,
  })

  const closing = opened.move()
  return {
    ...{ version, resource, clock, log, metrics, ...exports, sealer, store },
    refusedByStorage: (cause: unknown) => outages.refused(cause),
    storeLog: logBesideOutages(log, outages),
    ...network,
    relyingParty,
    resolveTxt: surroundings.resolveTxt ?? createTxtResolver(),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

async function openSealer(config: Config, log: Log): Promise<Sealer> {
  const { masterSecret: setting, dataDir: folder, databaseUrl } = config
  const isInstalled = async () => await isInUse({ databaseUrl, folder })
  return createSealer(
    await whenStorageAnswers(
      log,
      async () => await loadMasterSecretsFor({ setting, folder, isInUse: isInstalled }),
    ),
  )
}

async function openDatabase(
  config: Config,
  deps: Surroundings & {
    readonly log: Log
    readonly metrics: Metrics
    readonly sealer: Sealer
  },
): Promise<Store> {
  const { log, metrics, sealer, clock, machineClock } = deps
  const transactions = metrics.histogram(
    'intercept_database_transaction_seconds',
    'How long a transaction took, waiting for a connection and for locks included.',
  )
  const options = {
    databaseUrl: config.databaseUrl,
    folder: config.dataDir,
    clock: clock ?? machineClock ?? systemClock,
    followsDatabaseClock: clock === undefined,
    onHistory: reportHistory({ log, metrics }),
    onTransaction: (ms: number) => transactions.observe(ms / 1000),
    isNode: true,
    maxEventBytes: config.limits.webhookBodyBytes,
    authenticator: sealer,
  }
  return await whenStorageAnswers(log, async () => await openStore(options))
}

async function openNetwork(
  config: Config,
  { clock, opened }: { readonly clock: Clock; readonly opened: AsyncDisposableStack },
) {
  const openings = { allowCidrs: config.outboundAllowCidrs, allowLoopback: config.loopbackIsOpen }
  const guard = createAddressGuard(openings)
  const outbound = opened.use(createOutbound(openings))
  // Upstreams have a resolver of their own, so that they do not wait for webhook receivers whose names resolve slowly.
  const resolve = createResolver(systemResolve, () => clock.monotonic())
  const echo = opened.use(await openEcho())
  const others = createUpstreams({ clock, guard, resolve })
  const upstreams = opened.use(echo.among(others, { clock, resolve }))
  const addresses = createClientAddresses(config.trustedProxies, config.forwardedHost)
  const addressOf = (request: AppRequest): string =>
    addresses.of(peerAddress(request), request.headers['x-forwarded-for']?.toString())
  return { outbound, guard, echo, upstreams, addresses, addressOf }
}

/** Creates the tracer, the function that posts log records, and the access log: each only if it is configured. */
function openExports(
  config: Config,
  deps: {
    readonly opened: AsyncDisposableStack
    readonly clock: Clock
    readonly metrics: Metrics
    readonly log: Log
    readonly resource: Attributes
  },
) {
  const { opened, ...telemetryDeps } = deps
  const { otlpEndpoint, otlpLogsEndpoint, accessLog, telemetry } = config
  const { otlpHeaders: headers, sampler, samplerRatio } = telemetry
  const traces = otlpEndpoint && `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`
  return {
    tracer:
      traces === undefined
        ? undefined
        : opened.use(
            createTracer({
              ...{ ...telemetryDeps, randomHex, sample: createSampler(sampler, samplerRatio) },
              post: openCollector(traces, headers, opened),
            }),
          ),
    // The URL of the endpoint for logs is used unchanged; a path is added only to the URL of the endpoint for all
    // signals (OpenTelemetry, OTLP exporter configuration).
    postLogs:
      otlpLogsEndpoint === undefined ? undefined : openCollector(otlpLogsEndpoint, headers, opened),
    accessLog:
      accessLog === undefined
        ? undefined
        : opened.use(openAccessLog({ ...telemetryDeps, destination: accessLog })),
  }
}

/** Retries the work while the database server is unavailable; throws any other error. */
async function whenStorageAnswers<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const done = await work()
      if (tries > 1) log.info({ tries }, 'the database answers')
      return done
    } catch (err) {
      const isAway = asStorageProblem(err) !== undefined && !isOfFile(err) && !isKeptOut(err)
      if (!isAway) throw err
      if (tries === 1) log.warn({ err }, 'the database does not answer: waiting for it')
      await new Promise((resolve) => setTimeout(resolve, storeAgainMs))
    }
  }
}

/** Whether an error concerns the database file or its folder. */
function isOfFile(error: unknown): boolean {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (typeof code !== 'string') return false
  return code.startsWith('SQLITE_') || (code === 'ENOENT' && syscall !== 'connect')
}

/** Returns a function that posts to the operator's own collector, which may be on a private or loopback address. */
function openCollector(
  url: string,
  more: Readonly<Record<string, string>>,
  opened: AsyncDisposableStack,
): (body: string) => Promise<void> {
  const outbound = opened.use(
    createOutbound({ allowCidrs: ['0.0.0.0/0', '::/0'], allowLoopback: true }),
  )
  const request = {
    url,
    method: 'POST',
    headers: { ...more, 'content-type': 'application/json' },
    deadlineMs: 5000,
    maxResponseBytes: 64 * 1024,
  }
  return async (body) => {
    const { status } = await outbound.request({ ...request, body })
    const said = `the collector answered ${status}`
    if (refusesBody.has(status)) throw new CollectorRefusal(said)
    if (status >= 300) throw new Error(said)
  }
}
