import type { Problem } from '../errors.ts'
import { sourceOf, type App, type AppReply, type AppRequest } from '../http/index.ts'
import { createId } from '../ids.ts'
import { RefusedToken, type DirectoryPrincipal } from '../directory/index.ts'
import type { SharedRates } from '../access/index.ts'
import { RateLimiter, type Rate } from '../rate.ts'
import { bringsCredential, readToken } from './authorization.ts'
import { tooMany } from './protocol/errors.ts'
import type { ScimAnswer, ScimLimits, ScimDeps, ScimRequest } from './exchange.ts'
import { createExplain, type Explained } from './explain.ts'
import { createGuessLimit, type GuessLimit } from './guesses.ts'
import { ignoredNames } from './ignored.ts'
import { readAddress, readBody, type Address } from './read-request.ts'
import { sendAnswer, sendWrong } from './respond.ts'
import { createRouter, isDiscovery, type ScimRouter } from './router.ts'
import {
  pathWithoutSecrets,
  unreadWithoutSecrets,
  withoutSecrets,
} from './protocol/without-secrets.ts'

/** The path prefix of every SCIM URL. */
export const prefix = '/scim/v2'

const maxStrangers = 100_000
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export interface ScimServerDeps extends Omit<ScimDeps, 'limits'> {
  readonly limits: ScimLimits
  /** The rate of wrong tokens per source; undefined means no limit. */
  readonly failedCredentials: Rate | undefined
  readonly rates: SharedRates
  readonly addressOf: (request: AppRequest) => string
  /** Converts errors of lower layers, such as an unreachable database, into a problem; undefined for other errors. */
  readonly translate: (error: unknown) => Problem | undefined
  readonly log: { error(fields: object, text: string): void }
  /**
   * Counts a request that was refused because the database is unreachable, so that an outage is logged once rather than
   * per request.
   */
  readonly refusedByStorage: (cause: unknown) => void
}

/** A request that was admitted before its body was read. */
interface Admitted {
  readonly startedAt: number
  readonly at: Address
  /** Undefined when a discovery document is read without a token. */
  readonly principal: DirectoryPrincipal | undefined
  readonly perform: () => Promise<ScimAnswer>
  /** The request as its handler received it; unset until then, and for a discovery document. */
  asked?: ScimRequest
}

/** How a request ended: with a response or a refusal. */
interface Outcome {
  readonly startedAt: number
  readonly answer?: ScimAnswer | undefined
  readonly wrong?: Explained | undefined
  readonly asked?: ScimRequest | undefined
}

/** Admits requests, runs their handlers, sends the responses and writes the request log. */
export class ScimServer {
  readonly #deps: ScimServerDeps
  readonly #explain: (error: unknown) => Explained
  readonly #router: ScimRouter
  readonly #guesses: GuessLimit
  readonly #base: string
  readonly #strangers = new RateLimiter(maxStrangers)
  readonly #admitted = new WeakMap<AppRequest, Admitted>()

  constructor(deps: ScimServerDeps) {
    this.#deps = deps
    this.#explain = createExplain(deps.translate)
    this.#router = createRouter(deps, this.#explain)
    this.#guesses = createGuessLimit({
      clock: deps.clock,
      failures: deps.failedCredentials,
      rates: deps.rates,
    })
    this.#base = `${deps.baseUrl}${prefix}`
  }

  /**
   * Registers the routes in a separate scope: every refusal there has SCIM's format, and our own reader parses the
   * bodies.
   */
  register(app: App): void {
    const { bodyBytes, bulkBodyBytes } = this.#deps.limits
    void app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser(
        '*',
        { parseAs: 'buffer', bodyLimit: Math.max(bodyBytes, bulkBodyBytes) },
        (_request, body, done) => done(null, body),
      )
      scope.setErrorHandler(async (error, request, reply) =>
        sendWrong(request, reply, this.#explain(error)),
      )
      for (const url of [prefix, `${prefix}/*`]) {
        scope.route({
          method: [...methods],
          url,
          exposeHeadRoute: false,
          onRequest: async (request, reply) => await this.#admit(request, reply),
          handler: async (request, reply) => await this.#answer(request, reply),
        })
      }
    })
  }

  // Admits or refuses a request before its body is read, so that the body of an unauthenticated request is never
  // buffered and a wrong address or method is reported whatever the body is.
  async #admit(request: AppRequest, reply: AppReply): Promise<AppReply | undefined> {
    const startedAt = this.#deps.clock.monotonic()
    let principal: DirectoryPrincipal | undefined
    try {
      principal = await this.#identify(request)
      if (principal === undefined) this.#spendByStranger(request)
      else await this.#spend(principal)
      this.#admitted.set(request, this.#route(request, principal, startedAt))
      return undefined
    } catch (error) {
      const wrong = this.#explainAndLog(error, request)
      const by = principal ?? (error instanceof RefusedToken ? error.owner : undefined)
      if (by !== undefined) this.#note(request, by, { startedAt, wrong })
      return sendWrong(request, reply, wrong)
    }
  }

  async #identify(request: AppRequest): Promise<DirectoryPrincipal | undefined> {
    if (!bringsCredential(request) && isDiscovery(pathOf(request, this.#base))) return undefined
    const from = { address: this.#deps.addressOf(request), agent: request.headers['user-agent'] }
    return await this.#guesses.watch(from.address, async () => {
      const token = readToken(request)
      return await this.#deps.directories.tokens.identify(token, from)
    })
  }

  async #spend({ tokenId, organizationId }: DirectoryPrincipal): Promise<void> {
    const { rates, limits } = this.#deps
    if (limits.requests === undefined) return
    const subject = { id: tokenId, organizationId }
    const verdict = await rates.askUntilKnown(subject, limits.requests)
    if (!verdict.admitted) throw tooMany(verdict.retrySeconds)
    rates.spend({ subject, rate: limits.requests })
  }

  /**
   * Limits the requests without a token that each source may send. They are counted on this node only, so that strangers
   * cannot create database rows.
   */
  #spendByStranger(request: AppRequest): void {
    const rate = this.#deps.limits.requests
    if (rate === undefined) return
    const source = sourceOf(this.#deps.addressOf(request))
    const verdict = this.#strangers.ask(source, rate, this.#deps.clock.monotonic(), true)
    if (!verdict.admitted) throw tooMany(verdict.retrySeconds)
  }

  #route(
    request: AppRequest,
    principal: DirectoryPrincipal | undefined,
    startedAt: number,
  ): Admitted {
    const at = readAddress(request, this.#base, prefix)
    if (principal === undefined || isDiscovery(at.path)) {
      const discover = this.#router.findDiscovery(request.method, at.path)
      const asked = { query: at.query, base: this.#base }
      return { startedAt, at, principal, perform: async () => await discover(asked) }
    }
    const handle = this.#router.find(request.method, at.path)
    const admitted: Admitted = {
      startedAt,
      at,
      principal,
      perform: async () => {
        admitted.asked = this.#read(request, principal, at)
        return await handle(admitted.asked)
      },
    }
    return admitted
  }

  #read(request: AppRequest, principal: DirectoryPrincipal, at: Address): ScimRequest {
    return {
      ...at,
      method: request.method === 'HEAD' ? 'GET' : request.method,
      body: readBody(request, at.path, this.#deps.limits),
      ifMatch: request.headers['if-match'],
      ifNoneMatch: request.headers['if-none-match'],
      principal,
      actor: {
        kind: 'directory',
        id: principal.tokenId,
        name: principal.name,
        address: this.#deps.addressOf(request),
        requestId: request.id,
      },
      base: this.#base,
    }
  }

  async #answer(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const admitted = this.#admitted.get(request)
    if (admitted === undefined) throw new Error('a SCIM request reached its handler unidentified')
    let answer: ScimAnswer | undefined
    let wrong: Explained | undefined
    try {
      answer = await admitted.perform()
    } catch (error) {
      wrong = this.#explainAndLog(error, request)
    }
    const { principal, startedAt, asked } = admitted
    if (principal !== undefined) this.#note(request, principal, { startedAt, answer, wrong, asked })
    if (answer !== undefined) return await sendAnswer(request, reply, answer)
    return sendWrong(request, reply, wrong ?? this.#explain(undefined))
  }

  #explainAndLog(error: unknown, request: AppRequest): Explained {
    const wrong = this.#explain(error)
    if (wrong.code === 'storage_unavailable') this.#deps.refusedByStorage(error)
    else if (wrong.status >= 500 && wrong.status !== 501) {
      this.#deps.log.error({ err: error, request_id: request.id }, 'a SCIM request failed')
    }
    return wrong
  }

  #note(
    request: AppRequest,
    by: Pick<DirectoryPrincipal, 'organizationId' | 'tokenId'>,
    { startedAt, answer, wrong, asked }: Outcome,
  ): void {
    const { clock, directories } = this.#deps
    directories.log.note(by.organizationId, {
      id: createId('req', clock.now()),
      tokenId: by.tokenId,
      at: clock.now(),
      method: request.method,
      path: pathWithoutSecrets(request.url.slice(prefix.length) || '/'),
      status: answer?.status ?? wrong?.status ?? 500,
      scimType: wrong?.scimType,
      detail: wrong?.detail,
      sent:
        asked?.body === undefined
          ? unreadWithoutSecrets(request.body as Buffer | undefined)
          : withoutSecrets(asked.body),
      ignored: answer === undefined || asked === undefined ? [] : ignoredNames(asked),
      resourceId: resourceIdOf(asked, answer),
      durationUs: Math.round((clock.monotonic() - startedAt) * 1000),
      address: this.#deps.addressOf(request),
      agent: request.headers['user-agent']?.slice(0, 300),
    })
  }
}

// Returns a request's path, or an empty one for a malformed address, which is refused after authentication.
function pathOf(request: AppRequest, base: string): readonly string[] {
  try {
    return readAddress(request, base, prefix).path
  } catch {
    return []
  }
}

/** Returns the id of the user or group that a request concerned, from its address or from the created resource. */
function resourceIdOf(
  asked: ScimRequest | undefined,
  answer: ScimAnswer | undefined,
): string | undefined {
  const [kind = '', id] = asked?.path ?? []
  if (!/^(users|groups)$/i.test(kind)) return undefined
  if (id !== undefined) return id.startsWith('.') ? undefined : id.slice(0, 100)
  const location = answer?.headers?.['Location']
  return location?.slice(location.lastIndexOf('/') + 1)
}
