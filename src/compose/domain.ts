import { callPartitions } from '../store/index.ts'
import {
  createLossySender,
  renderLogs,
  type Log,
  type LogRecord,
  type LossySender,
  type Metrics,
} from '../telemetry/index.ts'
import {
  checkMasterKey,
  createAccessTokens,
  createKeyCache,
  createKeys,
  createSessions,
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
  createInvitations,
  createLinks,
  createMembers,
  createOrganizations,
  createPeople,
  createPost,
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

const keysInMemory = 1_000_000
const dayMs = 24 * 60 * 60_000

export type Domain = Awaited<ReturnType<typeof openDomain>>

/** Opens the rooms that decide, in the order in which they lean on each other. */
export async function openDomain(config: Config, foundations: Infrastructure) {
  await using opened = new AsyncDisposableStack()
  const { store, sealer, clock, log, metrics, outbound, guard, relyingParty } = foundations
  const { baseUrl, authUrl } = config
  await checkMasterKey(store, sealer)

  // Access.
  const signingKeys = await openSigningKeys({ store, sealer, clock })
  const keys = createKeys({ store, clock })
  const sessions = createSessions({
    ...{ store, clock, signingKeys },
    format: config.sessionFormat,
    issuer: authUrl,
    audience: baseUrl,
    lifetimeMs: config.limits.sessionMs,
    idleMs: config.limits.sessionIdleMs,
  })
  const accessTokens = createAccessTokens({ store, clock })
  const enabledSchemes = config.keySchemes
  const keyCache = createKeyCache({ store, clock, enabledSchemes, capacity: keysInMemory })

  // Targets.
  const defaults = defaultSettings(config.limits.bodyBytes, config.callRecords)
  const register = createTargetCache({ store, sealer, defaults })
  const targets = createTargets({ store, sealer, clock, guard, defaults })
  const quotas = opened.use(createQuotas({ store, clock }))
  const onError = (err: unknown): void => log.warn({ err }, 'rates: shared again later')
  const rates = opened.use(new SharedRates({ store, clock, onError }))
  measureLimits(metrics, { rates, quotas })
  const limits = createLimits({ clock, quotas, rates })

  // Organizations.
  const post = opened.use(await createPost({ smtpUrl: config.smtpUrl, baseUrl, log }))
  const people = createPeople({ store, sealer, clock, sessions, signUp: config.signUp })
  const directories = opened.use(
    createDirectories({
      ...{ store, clock, sealer },
      maxTokens: config.limits.scimTokens,
      cursorTimeoutMs: dayMs,
    }),
  )
  const sso = createSso({
    ...{ store, sealer, clock, relyingParty, authUrl, baseUrl },
    resolveTxt: foundations.resolveTxt,
    directory: directories.signIn,
    allowLoopback: config.loopbackIsOpen,
  })

  // Webhooks and audit.
  const webhooks = opened.use(
    createWebhooks({
      ...{ store, sealer, clock, outbound, log, metrics },
      deliveriesKeptMs: config.retention.deliveriesMs,
      maxEndpoints: config.limits.webhookEndpoints,
    }),
  )

  // Before anything is written: making a partition keeps writers waiting.
  await store
    .transactionOnCalls(async (tx) => await callPartitions.makePartitions(tx))
    .catch((err: unknown) => log.warn({ err }, 'calls: partitions are made later'))
  const { postLogs, version } = foundations
  const callLog = postLogs && opened.use(openCallLog({ post: postLogs, version, metrics, log }))
  if (postLogs) opened.use(new AuditExport({ store, post: postLogs, version, metrics, log }))

  const configurations = createConfigurations({
    ...{ store, sealer, clock, log, guard, outbound, relyingParty, authUrl, defaults },
    resolveTxt: foundations.resolveTxt,
    allowLoopback: config.loopbackIsOpen,
    maxEndpoints: config.limits.webhookEndpoints,
  })

  const closing = opened.move()
  return {
    ...{ signingKeys, keys, sessions, keyCache, accessTokens },
    ...{ register, targets, quotas, rates, limits, callLog },
    ...{ people, directories, sso, webhooks, configurations },
    organizations: createOrganizations({ store, clock }),
    members: createMembers({ store, clock, sessions, policies: sso.policies }),
    invitations: createInvitations({ store, clock, baseUrl, post }),
    links: createLinks({ store, clock, baseUrl }),
    audit: createAudit({ store }),
    denials: createDenials({ store, clock, log }),
    traffic: createTraffic({ store, clock }),
    [Symbol.asyncDispose]: async () => await closing.disposeAsync(),
  }
}

/** Call records for the operator's collector: losses are counted, never waited for. */
function openCallLog(deps: {
  post: (body: string) => Promise<void>
  version: string
  metrics: Metrics
  log: Log
}): LossySender<LogRecord> {
  const about = 'Call records never sent to the collector.'
  return createLossySender<LogRecord>({
    ...deps,
    render: (records) => renderLogs(records, deps.version),
    dropped: deps.metrics.counter('intercept_call_logs_dropped_total', about),
    warning: 'Call records could not be sent to the collector',
  })
}
