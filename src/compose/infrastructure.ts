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
import { createLog, type Log } from '../telemetry/index.ts'
import { createMetrics, measureProcess } from '../telemetry/index.ts'
import { createRelyingParty } from '../oidc/index.ts'
import { createSealer, loadMasterSecretsFor, randomToken } from '../secrets/index.ts'
import { asStorageProblem, isInUse, openStore } from '../store/index.ts'
import { measureBuild, measureConnections, measureLocks } from './measure.ts'
import { logBesideOutages, tellHistory, watchStore } from './store-watch.ts'
import { createTracer } from '../telemetry/index.ts'

const storeAgainMs = 500

/** What tests and the command line hand in instead of the usual. */
export interface Surroundings {
  /** What everybody's clock is, whatever the database says. */
  readonly clock?: Clock
  /** What this machine says the time is, where the database decides. */
  readonly machineClock?: Clock
  readonly log?: Log
  /** The DNS that domains are verified by. */
  readonly resolveTxt?: ResolveTxt
}

export type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

/** Opens what knows nothing of the product: the store, secrets, the network, what is told of ourselves. */
export async function openInfrastructure(
  config: Config,
  surroundings: Surroundings & { readonly version: string },
) {
  await using opened = new AsyncDisposableStack()
  const machineClock = surroundings.clock ?? surroundings.machineClock ?? systemClock
  const wholeLog =
    surroundings.log ?? createLog({ level: config.logLevel, pretty: process.stdout.isTTY })

  const metrics = createMetrics()
  opened.defer(measureProcess(metrics))
  const transactions = metrics.histogram(
    'intercept_database_transaction_seconds',
    'How long a transaction took, waiting for a connection and for locks included.',
  )
  const sealer = createSealer(
    await whenStorageAnswers(
      wholeLog,
      async () =>
        await loadMasterSecretsFor({
          setting: config.masterSecret,
          folder: config.dataDir,
          isInUse: async () =>
            await isInUse({ databaseUrl: config.databaseUrl, folder: config.dataDir }),
        }),
    ),
  )
  const store = opened.use(
    await whenStorageAnswers(
      wholeLog,
      async () =>
        await openStore({
          databaseUrl: config.databaseUrl,
          folder: config.dataDir,
          clock: machineClock,
          followsDatabaseClock: surroundings.clock === undefined,
          onHistory: tellHistory({ log: wholeLog, metrics }),
          onTransaction: (ms) => transactions.observe(ms / 1000),
          isNode: true,
          maxEventBytes: config.limits.webhookBodyBytes,
          authenticator: sealer,
        }),
    ),
  )
  const { clock } = store
  const outages = opened.use(watchStore({ store, log: wholeLog, metrics }))
  const log = logBesideOutages(wholeLog, outages)

  const openings = { allowCidrs: config.outboundAllowCidrs, allowLoopback: config.loopbackIsOpen }
  const outbound = opened.use(createOutbound(openings))
  const guard = createAddressGuard(openings)
  const resolve = createResolver(systemResolve, () => clock.monotonic())
  const echo = opened.use(await openEcho())
  const others = createUpstreams({ clock, guard, resolve })
  const upstreams = opened.use(echo.among(others, { clock, resolve }))
  const addresses = createClientAddresses(config.trustedProxies, config.forwardedHost)
  const addressOf = (request: AppRequest): string =>
    addresses.of(peerAddress(request), request.headers['x-forwarded-for']?.toString())

  const { version } = surroundings
  measureBuild(metrics, { version, engine: store.engine })
  measureConnections(metrics, { upstreams, store })
  if (store.engine === 'postgres') measureLocks(metrics, store)
  const { otlpEndpoint, otlpLogsEndpoint } = config
  const telling = { metrics, log, version }
  const tracer =
    otlpEndpoint === undefined
      ? undefined
      : opened.use(
          createTracer({
            ...telling,
            post: openCollector(`${otlpEndpoint.replace(/\/$/, '')}/v1/traces`, opened),
          }),
        )
  // A signal's own address is taken as it is (OpenTelemetry, OTLP exporter configuration).
  const postLogs =
    otlpLogsEndpoint === undefined ? undefined : openCollector(otlpLogsEndpoint, opened)

  const relyingParty = createRelyingParty({
    fetch: outbound.fetch,
    clock,
    allowLoopback: config.loopbackIsOpen,
    mintTokenId: randomToken,
  })

  const closing = opened.move()
  return {
    ...{ version, clock, log, metrics, tracer, postLogs, sealer, store },
    refusedByStorage: outages.refused,
    ...{ outbound, guard, echo, upstreams, addresses, addressOf, relyingParty },
    resolveTxt: surroundings.resolveTxt ?? createTxtResolver(),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** A node whose database is away waits for it and says so; only what waiting does not mend ends it. */
async function whenStorageAnswers<T>(log: Log, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const done = await work()
      if (tries > 1) log.info({ tries }, 'the database answers')
      return done
    } catch (err) {
      const isAway = asStorageProblem(err) !== undefined && !isOfFile(err)
      if (!isAway) throw err
      if (tries === 1) log.warn({ err }, 'the database does not answer: waiting for it')
      await new Promise((resolve) => setTimeout(resolve, storeAgainMs))
    }
  }
}

/** What is wrong with a file does not mend itself. */
function isOfFile(error: unknown): boolean {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown }
  if (typeof code !== 'string') return false
  return code.startsWith('SQLITE_') || (code === 'ENOENT' && syscall !== 'connect')
}

/** Posts to the operator's own collector, wherever that is. */
function openCollector(url: string, opened: AsyncDisposableStack): (body: string) => Promise<void> {
  const outbound = opened.use(
    createOutbound({ allowCidrs: ['0.0.0.0/0', '::/0'], allowLoopback: true }),
  )
  const request = {
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    deadlineMs: 5000,
    maxResponseBytes: 64 * 1024,
  }
  return async (body) => {
    const { status } = await outbound.request({ ...request, body })
    if (status >= 300) throw new Error(`the collector answered ${status}`)
  }
}
