import { Problem } from '../errors.ts'
import {
  admit,
  askedOf,
  checkCaller,
  gatewayPrefix,
  type Admitted,
  type Asked,
  type Refused,
  type TargetsBySlug,
  type Verdict,
} from '../targets/index.ts'
import { answerAllowed } from './allowed.ts'
import { createAssert } from './assertion.ts'
import { notPassed, type Call } from './call.ts'
import type { Ending } from './ending.ts'
import { readQuestion } from './forward-auth.ts'
import { forwardCall, type ForwardDeps } from './forward-call.ts'
import type { GatewayDeps } from './deps.ts'
import type { OpenCalls } from './open-calls.ts'
import type { Origins } from './origins.ts'
import { answerWhoAmI, checkReading } from './whoami.ts'

/**
 * The kinds of request to the gateway. In the implementation, a comment at the end of a line lists the statuses of the
 * refusals that this line may cause; a database outage can cause a 503 on other lines too.
 */
export interface Handlers {
  /** A call to a target, from the first check to the record. */
  guard(call: Call): void
  /** Whoami: the caller, and the targets it may call. */
  whoami(call: Call): void
  /** Forward-auth: only the decision, for a proxy that forwards the request itself. */
  forwardAuth(call: Call): void
}

/** `guard` and `forwardAuth` decide synchronously, unless they must wait for the database. */
export function createHandlers(deps: HandlersDeps): Handlers {
  return new GatewayHandlers(deps)
}

type HandlersDeps = GatewayDeps & {
  readonly openCalls: OpenCalls
  readonly origins: Origins
  readonly ending: Ending
}

class GatewayHandlers implements Handlers {
  readonly #deps: HandlersDeps
  readonly #forwardDeps: ForwardDeps

  constructor(deps: HandlersDeps) {
    const { origins, addresses, ending } = deps
    this.#deps = deps
    this.#forwardDeps = {
      origins,
      addresses,
      announcer: ending.announcer,
      assert: createAssert(deps),
      protocol: new URL(deps.baseUrl).protocol.slice(0, -1),
      tracer: deps.tracer,
      clock: deps.clock,
      refuse: ending.refuse,
      finish: ending.finish,
    }
  }

  guard(call: Call): void {
    this.#deps.openCalls.add(call, call.principal.keyId) // 429
    const wanted = { asked: askedOf(call.path, gatewayPrefix.length), methods: [call.method] }
    const verdict = this.#judge(call, wanted)
    if (verdict instanceof Promise) {
      this.#goOnLater(call, verdict, (late) => this.#pass(call, wanted, late))
    } else {
      this.#pass(call, wanted, verdict)
    }
  }

  whoami(call: Call): void {
    checkOrigin(call) // 403
    call.check = 'target'
    checkReading(call.exchange) // 405
    const { principal } = call
    const { keyCache, targetCache, baseUrl, ending } = this.#deps
    const found = Promise.all([
      keyCache.describe(principal), // 401 503
      targetCache.of(principal.organizationId),
    ])
    this.#goOnLater(call, found, ([description, targets]) => {
      answerWhoAmI(call, { principal, description, targets, baseUrl, prefix: gatewayPrefix })
      ending.finish(call, notPassed)
    })
  }

  forwardAuth(call: Call): void {
    const { rawHeaders, method, url } = call.exchange
    const rest = url.slice(gatewayPrefix.length + '/-/check'.length)
    const { asked, methods } = readQuestion({ rawHeaders, method, rest, prefix: gatewayPrefix }) // 400 405
    if (asked === undefined) {
      checkOrigin(call) // 403
      // No target is named, so the answer must hold for every target: a key whose grants limit it is refused.
      if (call.principal.grants !== undefined) {
        throw new Problem('target_not_found', 'Say which target is meant: ?target=<name>.')
      }
      this.#allow(call, undefined)
      return
    }
    call.method = methods.length === 1 ? (methods[0] ?? method) : method
    call.path = `${gatewayPrefix}/${asked.slug}${asked.path}`
    const verdict = this.#judge(call, { asked, methods })
    const goOn = (found: Verdict): void => {
      if (this.#isAdmitted(call, found)) this.#allow(call, found) // 400 403 404 429
    }
    if (verdict instanceof Promise) this.#goOnLater(call, verdict, goOn)
    else goOn(verdict)
  }

  #pass(call: Call, { asked }: Wanted, verdict: Verdict): void {
    if (!this.#isAdmitted(call, verdict)) return // 400 403 404 429
    const { target } = verdict
    call.check = 'forward'
    // The call may have been cut off, or the caller may have left, during the checks.
    const isOver = call.exchange.gone || call.exchange.finished
    if (isOver) this.#deps.ending.finish(call, notPassed)
    else forwardCall(call, { target, path: asked.path }, this.#forwardDeps) // 400 413 502 504
  }

  /** Runs the checks of an identified call, in order. */
  #judge(call: Call, wanted: Wanted): Verdict | Promise<Verdict> {
    call.check = 'target'
    const targets = this.#deps.targetCache.of(call.principal.organizationId)
    return targets instanceof Promise
      ? targets.then((found) => this.#judgeAmong(found, call, wanted))
      : this.#judgeAmong(targets, call, wanted)
  }

  #judgeAmong(
    targets: TargetsBySlug,
    call: Call,
    { asked, methods }: Wanted,
  ): Verdict | Promise<Verdict> {
    call.check = 'limits'
    const { principal, arrival, method, exchange } = call
    return admit({
      principal,
      address: arrival.address,
      signs: exchange.head,
      method,
      named: targets.get(asked.slug),
      asked,
      methods,
      limits: this.#deps.limits,
      spend: true,
    })
  }

  /** Stores what the checks found and returns whether they admitted the call; refuses the call otherwise. */
  #isAdmitted(call: Call, verdict: Verdict): verdict is Admitted {
    if (!verdict.isAdmitted) {
      call.known = verdict.known
      call.check = verdict.stoppedAt
      this.#deps.ending.refuse(call, verdict.error)
      return false
    }
    call.known = verdict
    call.limitHeaders = verdict.limitHeaders
    return true
  }

  #allow(call: Call, admitted: Admitted | undefined): void {
    const target = admitted?.target
    // The proxy should pass the assertion on to the upstream, as we do with a call that we forward ourselves.
    const isSigned = target?.settings.assertion === true
    const signed = isSigned ? this.#forwardDeps.assert(call.principal, target) : undefined
    const goOn = (assertion: string | undefined): void => {
      answerAllowed(call, { slug: target?.slug, assertion })
      this.#deps.ending.finish(call, notPassed)
    }
    if (signed instanceof Promise) this.#goOnLater(call, signed, goOn)
    else goOn(signed)
  }

  #goOnLater<T>(call: Call, found: Promise<T>, goOn: (found: T) => void): void {
    found.then(goOn).catch((error: unknown) => this.#deps.ending.refuse(call, error))
  }
}

/** The requested target and path, and the methods to check. */
interface Wanted {
  readonly asked: Asked
  readonly methods: readonly string[]
}

/** Throws 403 if the key may not be used from the caller's address, or if a web page sent the call. */
function checkOrigin(call: Call): void {
  const { principal, arrival, method, exchange } = call
  const refused = checkCaller({
    ...{ principal, address: arrival.address, signs: exchange.head, method, named: undefined },
  })
  if (refused !== undefined) stop(call, refused)
}

function stop(call: Call, { stoppedAt, error }: Refused): never {
  call.check = stoppedAt
  throw error
}
