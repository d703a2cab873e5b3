/** The guarded area, /api/v1/intercept/…: identify, check, forward, record. */
import type { KeyPrincipal, KeyCache, Scheme, SigningKeys, SharedRates } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import type { ClientAddresses, Exchange, Upstreams } from '../http/index.ts'
import type { Metrics } from '../telemetry/index.ts'
import { asStorageProblem, type Store } from '../store/index.ts'
import {
  askedOf,
  checkAddress,
  checkBrowser,
  decideRules,
  findTarget,
  gatewayPrefix,
  type Asked,
  type Limits,
  type Quotas,
  type TargetCache,
} from '../targets/index.ts'
import type { Rate } from '../rate.ts'
import type { RecordChoice } from '../record-choice.ts'
import type { LogRecord, LossySender, Tracer } from '../telemetry/index.ts'
import { createAnnouncer } from '../calls/index.ts'
import { readQuestion } from './forward-auth.ts'
import { createAssert } from './assertion.ts'
import { Call } from './call.ts'
import { createIdentify } from './identify.ts'
import { createOpenCalls } from './open-calls.ts'
import { createOrigins } from './origins.ts'
import { answerAllowed, answerWhoAmI } from './whoami.ts'
import { forwardCall, type Forwarding } from './forward-call.ts'
import { callLogOf, CallMetrics, createRecorder } from '../calls/index.ts'
import { spanOf } from './span.ts'

const checkPath = '/-/check'

export interface GatewayDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: {
    error(fields: object, text: string): void
    warn(fields: object, text: string): void
  }
  /** Counts a refusal that the database's absence caused: an outage is said once, not call by call. */
  readonly refusedByStorage: (cause: unknown) => void
  readonly metrics: Metrics
  /** Where spans go, if anywhere. */
  readonly tracer: Pick<Tracer, 'add'> | undefined
  /** Where call records go besides, if anywhere. */
  readonly callLog: Pick<LossySender<LogRecord>, 'add'> | undefined
  readonly keyCache: KeyCache
  readonly signingKeys: SigningKeys
  readonly register: TargetCache
  readonly limits: Limits
  readonly quotas: Quotas
  readonly upstreams: Upstreams
  readonly addresses: ClientAddresses
  readonly enabledSchemes: readonly Scheme[]
  /** Failed credentials that a source may send; undefined = any number. */
  readonly failedCredentials: Rate | undefined
  readonly rates: Pick<SharedRates, 'part'>
  /** Which calls leave a record where no target says so. */
  readonly callRecords: RecordChoice
  /** How many targets have series of their own in the metrics. */
  readonly metricsTargets: number
  readonly baseUrl: string
  readonly authUrl: string
}

/** The door of the guarded area. */
export interface Gateway extends AsyncDisposable {
  /** Takes a request of the guarded area and answers it, sooner or later. */
  handle(exchange: Exchange): void
  /** Ends streams that have no end of their own: the process stops. */
  endStreams(): void
  /** Deletes records of calls older than this time. */
  forget(olderThanMs: number): Promise<void>
  /** Writes the records that are waiting. */
  flush(): Promise<void>
}

/** Opens the gateway. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { store, clock, log, metrics, register, limits, quotas, addresses, baseUrl } = deps
  const identify = createIdentify({
    ...deps,
    failures: deps.failedCredentials,
    part: deps.rates.part,
  })
  const openCalls = createOpenCalls(deps)
  const origins = createOrigins(deps.upstreams)
  const announcer = createAnnouncer(store)
  const recorder = createRecorder({ store, clock, metrics, log, also: flushSums })
  const forwardDeps = {
    origins,
    announcer,
    addresses,
    assert: createAssert(deps),
    protocol: new URL(baseUrl).protocol.slice(0, -1),
    isTraced: deps.tracer !== undefined,
  }
  const callMetrics = new CallMetrics(metrics, { maxTargets: deps.metricsTargets })
  metrics.measured('intercept_calls_open', 'Calls under way.', () => openCalls.size)
  metrics.measured(
    'intercept_streams_open',
    'Event streams and taken-over connections (WebSockets) under way.',
    () => openCalls.streams(),
  )
  const sweep = setInterval(() => origins.sweep(), 60_000)
  sweep.unref()

  /** A call to a target, from the first check to the record; each line says with what it may end. */
  async function guard(call: Call): Promise<void> {
    const principal = await identify(call) // 400 401 429 503
    call.principal = principal
    openCalls.add(call, principal.keyId) // 429
    const forwarding = await judge(call, principal, askedOf(belowPrefix(call)), [call.method]) // 400 403 404 429
    call.check = 'forward'
    if (!call.exchange.gone) await forwardCall(call, forwarding, forwardDeps) // 413 502 504
  }

  /** Every check of an identified call, in order. */
  async function judge(
    call: Call,
    principal: KeyPrincipal,
    asked: Asked,
    methods: readonly string[],
  ): Promise<Forwarding> {
    const found = register.of(principal.organizationId)
    const targets = found instanceof Promise ? await found : found
    checkOrigin(call, principal, targets.get(asked.slug)) // 403
    call.check = 'target'
    const [method = ''] = methods
    const target = findTarget(targets, principal, asked, method) // 400 404 403
    call.target = target
    call.check = 'rules'
    for (const each of methods) {
      if (each !== method) findTarget(targets, principal, asked, each)
      const decision = decideRules(target, each, asked.path) // 400 403
      call.ruleId = decision.ruleId
      call.trialRuleId = decision.trialRuleId
    }
    call.check = 'limits'
    const spent = limits.ask(principal, target, true) // 429
    const limitHeaders = spent instanceof Promise ? await spent : spent
    if (limitHeaders.length > 0) call.answerHeaders = [...call.answerHeaders, ...limitHeaders]
    return { principal, target, path: asked.path }
  }

  /** Where the call comes from: 403 for the wrong address, and for a browser's page. */
  function checkOrigin(
    call: Call,
    principal: KeyPrincipal,
    target: Parameters<typeof checkBrowser>[1],
  ): void {
    call.check = 'address'
    checkAddress(principal, call.address)
    call.check = 'browser'
    const { secFetchSite, accessControlRequestMethod } = call.exchange.head
    checkBrowser({ method: call.method, secFetchSite, accessControlRequestMethod }, target)
  }

  async function tellWho(call: Call): Promise<void> {
    const principal = await identify(call) // 400 401 429 503
    call.principal = principal
    checkOrigin(call, principal, undefined) // 403
    call.check = 'target'
    const targets = await register.of(principal.organizationId)
    answerWhoAmI(call, { principal, targets, baseUrl, prefix: gatewayPrefix }) // 405
  }

  /** The decision alone, for a proxy that passes the request on by itself. */
  async function answerQuestion(call: Call): Promise<void> {
    call.isQuestion = true
    const principal = await identify(call) // 400 401 429 503
    call.principal = principal
    const { rawHeaders, method, url } = call.exchange
    const rest = url.slice(gatewayPrefix.length + checkPath.length)
    const question = readQuestion({ rawHeaders, method, rest, prefix: gatewayPrefix }) // 400 405
    let assertion: string | undefined
    if (question.asked === undefined) {
      checkOrigin(call, principal, undefined) // 403
      // Nothing said which target: a key that may not reach all of them gets no yes.
      if (principal.grants !== undefined) {
        throw new Problem('target_not_found', 'Say which target is meant: ?target=<name>.')
      }
    } else {
      const { asked, methods } = question
      call.method = methods.length === 1 ? (methods[0] ?? method) : method
      call.path = `${gatewayPrefix}/${asked.slug}${asked.path}`
      const { target } = await judge(call, principal, asked, methods) // 400 403 404 429
      // The proxy hands it to the upstream, as a forwarded call would.
      if (target.settings.assertion) assertion = await forwardDeps.assert(principal, target)
    }
    answerAllowed(call, principal, { slug: call.target?.slug, assertion })
  }

  function handle(exchange: Exchange): void {
    const { head, peerAddress } = exchange
    const call = new Call(exchange, {
      address: addresses.of(peerAddress, head.forwardedFor),
      startedAt: clock.monotonic(),
    })
    call.answerHeaders = ['Intercept-Request-Id', exchange.requestId]
    void pass(call)
  }

  async function pass(call: Call): Promise<void> {
    try {
      await storyOf(call)(call)
    } catch (error) {
      refuse(call, error)
    }
    finish(call)
  }

  function storyOf(call: Call): (call: Call) => Promise<void> {
    const below = belowPrefix(call)
    if (below === '' || below === '/') return tellWho
    return below === checkPath || below.startsWith(`${checkPath}/`) ? answerQuestion : guard
  }

  function refuse(call: Call, error: unknown): void {
    const problem = error instanceof Problem ? error : asStorageProblem(error)
    if (problem === undefined) {
      log.error({ err: error, request_id: call.exchange.requestId }, 'a call failed')
    } else if (problem.status >= 500) {
      const { code, cause } = problem
      if (code === 'storage_unavailable' || code === 'credential_unverifiable')
        deps.refusedByStorage(cause)
      else log.warn({ code, err: cause, request_id: call.exchange.requestId }, 'a call was refused')
    }
    call.refuse(problem ?? error)
  }

  function finish(call: Call): void {
    const { principal, refusal } = call
    const record = call.record(clock.now(), clock.monotonic())
    callMetrics.count(call, record)
    if (principal === undefined || record === undefined) return
    openCalls.remove(call, principal.keyId)
    deps.callLog?.add(callLogOf(record))
    recorder.record(record, principal, call.target?.settings.records ?? deps.callRecords)
    const span = deps.tracer && spanOf(call, record)
    if (span) deps.tracer?.add(span)
    if (refusal === undefined) return
    if (refusal === 'browser_origin_refused') announcer.exposed(record)
    announcer.refused(record)
  }

  async function flushSums(): Promise<void> {
    await quotas.flush()
    await announcer.flush(clock.now())
  }

  return {
    handle,
    endStreams: () => openCalls.endStreams(),
    forget: recorder.forget,
    flush: async () => await recorder.flush(),
    async [Symbol.asyncDispose]() {
      clearInterval(sweep)
      openCalls[Symbol.dispose]()
      await recorder[Symbol.asyncDispose]()
      // What was summed up for later has no later.
      await announcer.flush(Infinity).catch((err: unknown) => {
        log.error({ err }, 'what was to be announced of calls could not be written')
      })
    },
  }
}

function belowPrefix(call: Call): string {
  return call.path.slice(gatewayPrefix.length)
}
