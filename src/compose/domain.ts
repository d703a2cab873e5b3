import { callPartitions } from '../store/index.ts'
import {
  createLossySender,
  renderLogs,
  type Attributes,
  type Log,
  type LogRecord,
  type LossySender,
  type Metrics,
} from '../telemetry/index.ts'
import {
  checkMasterKey,
  AccessTokens,
  createKeyCache,
  keysInMemory,
  Sessions,
  Keys,
  openSigningKeys,
  SharedRates,
} from '../access/index.ts'
import { AuditExport, createAudit, createDenials } from '../audit/index.ts'
import { createTraffic } from '../calls/index.ts'
import type { Config } from '../config.ts'
import type { Infrastructure } from './infrastructure.ts'
import { measureLimits } from './measure.ts'
import { createConfigurations } from '../configuration/index.ts'
import { createDirectories } from '../directory/index.ts'
import {
  Invitations,
  Links,
  Members,
  Organizations,
  People,
  openMailer,
} from '../organizations/index.ts'
import { createSso } from '../sso/index.ts'
import {
  createLimits,
  createQuotas,
  createTargetCache,
  createTargets,
  defaultSettings,
} from '../targets/index.ts'
import { createWebhooks } from '../webhooks/index.ts'
import { dayMs } from '../units.ts'

export type Domain = Awaited<ReturnType<typeof openDomain>>

/** Creates the domain services in the order of their dependencies. */
export async function openDomain(config: Config, infrastructure: Infrastructure) {
  await using opened = new AsyncDisposableStack()
  const { store, sealer, clock, storeLog } = infrastructure
  const { baseUrl } = config
  await checkMasterKey(store, sealer)

  const access = await openAccess(config, infrastructure)
  const { sessions } = access
  const targets = openTargets(config, infrastructure, opened)
  const { mailer, directories, sso } = await openPeople(config, infrastructure, opened)
  const webhooks = openWebhooks(config, infrastructure, opened)
  const callLog = await openRecords(infrastructure, opened)

  const closing = opened.move()
  return {
    ...access,
    ...targets,
    ...{ callLog, directories, sso, webhooks },
    configurations: openConfigurations(config, infrastructure),
    people: new People({ store, sealer, clock, sessions, signUp: config.signUp }),
    organizations: new Organizations({ store }),
    members: new Members({ store, clock, sessions, policies: sso.policies }),
    invitations: new Invitations({ store, clock, baseUrl, mailer }),
    links: new Links({ store, clock, baseUrl }),
    audit: createAudit({ store }),
    denials: createDenials({ store, clock, log: storeLog }),
    traffic: createTraffic({ store, clock }),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

async function openAccess(config: Config, { store, sealer, clock }: Infrastructure) {
  const { baseUrl, authUrl, keySchemes: enabledSchemes } = config
  const signingKeys = await openSigningKeys({ store, sealer, clock })
  return {
    signingKeys,
    keys: new Keys({ store, clock }),
    sessions: new Sessions({
      ...{ store, clock, signingKeys },
      format: config.sessionFormat,
      issuer: authUrl,
      audience: baseUrl,
      lifetimeMs: config.limits.sessionMs,
      idleMs: config.limits.sessionIdleMs,
    }),
    accessTokens: new AccessTokens({ store, clock }),
    keyCache: createKeyCache({ store, clock, enabledSchemes, capacity: keysInMemory }),
  }
}

function openTargets(
  config: Config,
  { store, sealer, clock, guard, storeLog, metrics }: Infrastructure,
  opened: AsyncDisposableStack,
) {
  const defaults = defaultSettings(config.limits.bodyBytes, config.callRecords)
  const quotas = opened.use(createQuotas({ store, clock }))
  const onError = (err: unknown): void => storeLog.warn({ err }, 'rates: shared again later')
  const rates = opened.use(new SharedRates({ store, clock, onError }))
  measureLimits(metrics, { rates, quotas })
  return {
    targetCache: createTargetCache({ store, sealer, defaults }),
    targets: createTargets({ store, sealer, clock, guard, defaults }),
    quotas,
    rates,
    limits: createLimits({ clock, quotas, rates }),
  }
}

function openConfigurations(config: Config, infrastructure: Infrastructure) {
  const { store, sealer, clock, log, guard, outbound, relyingParty, resolveTxt } = infrastructure
  return createConfigurations({
    ...{ store, sealer, clock, log, guard, outbound, relyingParty, resolveTxt },
    authUrl: config.authUrl,
    defaults: defaultSettings(config.limits.bodyBytes, config.callRecords),
    allowLoopback: config.loopbackIsOpen,
    maxEndpoints: config.limits.webhookEndpoints,
  })
}

async function openPeople(
  config: Config,
  infrastructure: Infrastructure,
  opened: AsyncDisposableStack,
) {
  const { store, sealer, clock, log, relyingParty, resolveTxt } = infrastructure
  const { baseUrl, authUrl } = config
  const mailer = opened.use(await openMailer({ smtpUrl: config.smtpUrl, baseUrl, log }))
  const directories = opened.use(
    createDirectories({
      ...{ store, clock, sealer },
      maxTokens: config.limits.scimTokens,
      cursorTimeoutMs: dayMs,
    }),
  )
  const sso = createSso({
    ...{ store, sealer, clock, relyingParty, authUrl, baseUrl, resolveTxt },
    directory: directories.signIn,
    allowLoopback: config.loopbackIsOpen,
  })
  return { mailer, directories, sso }
}

function openWebhooks(
  config: Config,
  { store, sealer, clock, outbound, storeLog, metrics }: Infrastructure,
  opened: AsyncDisposableStack,
) {
  return opened.use(
    createWebhooks({
      ...{ store, sealer, clock, outbound, log: storeLog, metrics },
      deliveriesKeptMs: config.retention.deliveriesMs,
      maxEndpoints: config.limits.webhookEndpoints,
    }),
  )
}

/**
 * Prepares storage for call records, and starts exporting call records and audit entries to the operator's collector,
 * if there is one.
 */
async function openRecords(
  { store, postLogs, resource, metrics, log }: Infrastructure,
  opened: AsyncDisposableStack,
) {
  // Creating a partition blocks writers, so it is done before this node records calls.
  await store
    .transactionOnCalls(async (tx) => await callPartitions.makePartitions(tx))
    .catch((err: unknown) => log.warn({ err }, 'calls: partitions are made later'))
  if (postLogs === undefined) return undefined
  opened.use(new AuditExport({ store, post: postLogs, resource, metrics, log }))
  return opened.use(openCallLog({ post: postLogs, resource, metrics, log }))
}

/**
 * Exports call records to the operator's collector; records that cannot be sent are dropped and counted, so that no
 * call waits for the collector.
 */
function openCallLog(deps: {
  post: (body: string) => Promise<void>
  resource: Attributes
  metrics: Metrics
  log: Log
}): LossySender<LogRecord> {
  const about = 'Call records never sent to the collector.'
  return createLossySender<LogRecord>({
    ...deps,
    render: (records) => renderLogs(records, deps.resource),
    dropped: deps.metrics.counter('intercept_call_logs_dropped_total', about),
    warning: 'Call records could not be sent to the collector',
  })
}
