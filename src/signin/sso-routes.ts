import { isFreshSignIn, markedSession, type SignedIn } from '../access/index.ts'
import { Problem } from '../errors.ts'
import {
  checkSameOrigin,
  searchOf,
  type App,
  type AppReply,
  type AppRequest,
} from '../http/index.ts'
import { faultOf, type RelyingParty } from '../oidc/index.ts'
import { endByProvider, type PendingLink, type Sso } from '../sso/index.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'
import { currentPerson, formOf, only, sendPage, type SignInDeps } from './routes.ts'
import { arrivalOf, type Arrival } from './arrival.ts'
import type { LoginState } from './login-state.ts'
import { landingPage } from './pages.ts'
import { confirmPage, confirmRequiredPage, switchPage, testedPage } from './sso-pages.ts'
import {
  actorOf,
  SsoFinishes,
  type PendingSwitch,
  type SsoEnd,
  type Visitor,
} from './sso-finish.ts'
import { createPendingConfirmations, type PendingConfirmations } from './sso-pending.ts'
import { SsoStarts, type Start, type Starter } from './sso-start.ts'

export interface SsoDeps extends SignInDeps {
  readonly sso: Sso
  readonly relyingParty: RelyingParty
  readonly store: Store
  readonly sealer: Sealer
}

const base = '/api/v1/auth/sso'
const keysFreshSeconds = 300

/** Registers the routes of company sign-in, including those that only the provider calls: logout and keys. */
export function registerSso(scope: App, deps: SsoDeps): void {
  const routes = new SsoRoutes(deps)
  const one = `${base}/:connection`
  only(scope, `GET ${base}/login`, async (...ends) => await routes.startByName(...ends))
  // A provider may start a sign-in with either method (OpenID Connect Core 1.0, section 4; Registration 1.0,
  // initiate_login_uri).
  only(scope, `GET, POST ${one}/login`, async (...ends) => await routes.startByConnection(...ends))
  only(scope, `GET ${one}/callback`, async (...ends) => await routes.finish(...ends))
  only(scope, `POST ${base}/switched`, async (...ends) => await routes.finishSwitch(...ends))
  only(scope, `GET ${base}/confirm`, async (...ends) => await routes.askToConfirm(...ends))
  only(scope, `POST ${base}/confirmed`, async (...ends) => await routes.confirm(...ends))
  only(scope, `POST ${one}/logout`, async (...ends) => await routes.logOutByProvider(...ends))
  only(scope, `GET ${one}/keys`, async (...ends) => await routes.keys(...ends))
}

class SsoRoutes {
  readonly #deps: SsoDeps
  readonly #starts: SsoStarts
  readonly #finishes: SsoFinishes
  readonly #links: PendingConfirmations<PendingLink>
  readonly #switches: PendingConfirmations<PendingSwitch>

  constructor(deps: SsoDeps) {
    this.#deps = deps
    this.#starts = new SsoStarts(deps)
    this.#finishes = new SsoFinishes(deps)
    this.#links = createPendingConfirmations<PendingLink>(deps, 'confirm')
    this.#switches = createPendingConfirmations<PendingSwitch>(deps, 'switch')
  }

  async startByName(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const start = await this.#starts.byName(queryOf(request), await this.#starterOf(request))
    return await redirect(reply, start, 302)
  }

  async startByConnection(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const isForm = request.method === 'POST'
    const start = await this.#starts.byConnection(
      connectionOf(request),
      isForm ? formOf(request) : queryOf(request),
      await this.#starterOf(request),
    )
    return await redirect(reply, start, isForm ? 303 : 302)
  }

  async finish(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const id = connectionOf(request)
    const arrival = arrivalOf(this.#deps, request, {
      provider: id,
      path: `${base}/${id}/callback`,
    })
    if (arrival.handOver !== undefined) {
      return await reply.header('Referrer-Policy', 'no-referrer').redirect(arrival.handOver, 302)
    }
    const visitor = this.#visitorOf(request)
    const end = await this.#deps.callbackLimit.watch(
      visitor.address,
      opening(arrival),
      async (login) => {
        if (login instanceof Problem) return await this.#refuseStray(id, login, visitor)
        const finish = async (query: string) => await this.#finishes.finish(login, query, visitor)
        return await arrival.finish(login, reply, finish)
      },
    )
    return await this.#sendEnd(end, request, reply)
  }

  async finishSwitch(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const { sso } = this.#deps
    checkSameOrigin(request.headers, this.#deps.baseUrl)
    const { input, returnTo } = this.#switches.read(request.headers.cookie, formOf(request))
    const before = await currentPerson(this.#deps, request)
    const connection = await sso.routing.open(input.connectionId)
    const visitor = this.#visitorOf(request)
    const { person } = input
    const admitted = await sso.signIn.admit(connection, person, actorOf(visitor))
    if (admitted.kind !== 'admitted' || admitted.user.id !== input.userId) {
      throw new Problem('sso_confirmation_required', 'The account has changed. Start again.')
    }
    const cookies = await this.#finishes.startSession({ connection, admitted, person }, visitor)
    if (before !== undefined) await this.#endReplaced(before)
    reply.header('Set-Cookie', [this.#switches.endCookie, ...cookies])
    return await sendPage(reply, landingPage(returnTo))
  }

  async askToConfirm(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const { input: link, mark } = this.#links.read(request.headers.cookie)
    const person = await currentPerson(this.#deps, request)
    const page = person
      ? confirmPage(link, person.name, mark)
      : confirmRequiredPage(link, this.#providerNames(), request.id)
    return await sendPage(reply, page)
  }

  async confirm(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const { sso } = this.#deps
    checkSameOrigin(request.headers, this.#deps.baseUrl)
    const waiting = this.#links.read(request.headers.cookie, formOf(request))
    const { input: link, returnTo, startedAt } = waiting
    const person = await currentPerson(this.#deps, request)
    if (!person) throw new Problem('session_missing', 'Sign in the way you did before, first.')
    const connection = await sso.routing.open(link.connectionId)
    await this.#requireOwnProof(person, { organizationId: link.organizationId, startedAt })
    const visitor = this.#visitorOf(request)
    const { address, requestId } = visitor
    const { userId, name } = person
    const actor = { kind: 'user', id: userId, name, address, requestId } as const
    const admitted = await sso.signIn.confirm(connection, { link, userId }, actor)
    const entry = { connection, admitted, person: link.person }
    const cookies = await this.#finishes.startSession(entry, visitor)
    await this.#endReplaced(person)
    reply.header('Set-Cookie', [this.#links.endCookie, ...cookies])
    return await sendPage(reply, landingPage(returnTo))
  }

  /** Ends the sessions that a provider's logout token names (OpenID Connect Back-Channel Logout 1.0, 2.5 to 2.8). */
  async logOutByProvider(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const { sso, relyingParty, store } = this.#deps
    reply.header('Cache-Control', 'no-store')
    const [token, second] = formOf(request).getAll('logout_token')
    try {
      if (token === undefined || second !== undefined) {
        throw new Problem('logout_token_invalid', 'There is no logout token, or more than one.')
      }
      const connection = await sso.routing.open(connectionOf(request))
      const provider = await relyingParty.provider(connection.issuer)
      const logout = await relyingParty.logout(token, provider, connection.clientId)
      await endByProvider(store, connection, logout)
      return await reply.code(200).send()
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const refusal = {
        error: 'invalid_request',
        error_description: error.message.replaceAll(/["\\«»]/g, "'"),
      }
      return await reply
        .code(faultOf(error)?.step === 'discovery' ? 502 : 400)
        .header('Intercept-Refused', error.code)
        .type('application/json')
        .send(JSON.stringify(refusal))
    }
  }

  /**
   * Serves the public key with which the provider verifies a connection's client authentication; no key if the
   * connection uses a client secret.
   */
  async keys(request: AppRequest, reply: AppReply): Promise<AppReply> {
    const connection = await this.#deps.sso.connections.findForSignIn(connectionOf(request))
    if (!connection) throw new Problem('sso_not_available')
    const keys = connection.publicJwk === undefined ? [] : [JSON.parse(connection.publicJwk)]
    return await reply
      .type('application/json')
      .header('Cache-Control', `public, max-age=${keysFreshSeconds}`)
      .send(JSON.stringify({ keys }))
  }

  async #sendEnd(end: SsoEnd, request: AppRequest, reply: AppReply): Promise<AppReply> {
    switch (end.kind) {
      case 'signed-in':
        reply.header('Set-Cookie', [...end.cookies])
        return await sendPage(reply, landingPage(end.returnTo))
      case 'tested':
        return await sendPage(reply, testedPage(end.connection, end.passed))
      case 'confirm': {
        reply.header('Set-Cookie', this.#links.keep(end.link, end.returnTo).cookie)
        const page = confirmRequiredPage(end.link, this.#providerNames(), request.id)
        return await sendPage(reply, page)
      }
      case 'switch': {
        const { cookie, mark } = this.#switches.keep(end.input, end.returnTo)
        reply.header('Set-Cookie', cookie)
        return await sendPage(reply, switchPage(end.input, end.now, mark))
      }
    }
  }

  async #starterOf(request: AppRequest): Promise<Starter> {
    const person = await currentPerson(this.#deps, request)
    const before = person && { userId: person.userId, sessionId: person.sessionId }
    const cookieHeader = request.headers.cookie
    return { before, cookieHeader, actor: actorOf(this.#visitorOf(request)) }
  }

  /** Records and throws the refusal of a response that fits none of the browser's sign-ins. */
  async #refuseStray(id: string, refusal: Problem, visitor: Visitor): Promise<never> {
    const { sso } = this.#deps
    const connection = await sso.connections.findForSignIn(id)
    if (connection) await sso.outcomes.refused(connection, refusal, actorOf(visitor))
    throw refusal
  }

  #visitorOf(request: AppRequest): Visitor {
    return {
      address: this.#deps.addressOf(request),
      agent: request.headers['user-agent'],
      requestId: request.id,
      markedSession: markedSession(request.headers.cookie),
    }
  }

  #providerNames(): readonly string[] {
    return this.#deps.providers.map(({ name }) => name)
  }

  async #endReplaced({ userId, sessionId }: SignedIn): Promise<void> {
    const why = { by: userId, reason: 'signed_in_again' }
    await this.#deps.sessions.end(userId, { id: sessionId }, why)
  }

  /**
   * Refuses a person who signed in more than an hour before the confirmation was requested, or through another
   * organization's provider, which proves nothing here.
   */
  async #requireOwnProof(
    person: Pick<SignedIn, 'connectionId' | 'signedInAt'>,
    link: { organizationId: string; startedAt: number },
  ): Promise<void> {
    if (person.connectionId !== undefined) {
      const by = await this.#deps.sso.connections.findForSignIn(person.connectionId)
      if (by?.organizationId !== link.organizationId) {
        throw new Problem(
          'own_sign_in_required',
          'Confirm from a sign-in of your own, not from another organization.',
        )
      }
    }
    if (!isFreshSignIn(person, link.startedAt)) {
      throw new Problem(
        'sign_in_too_old',
        'You signed in more than an hour ago. Sign in again to confirm.',
      )
    }
  }
}

/** Returns a fault of the response instead of throwing it, so that the refusal can be recorded. */
function opening(arrival: Arrival): () => LoginState | Problem {
  return () => {
    try {
      return arrival.open()
    } catch (error) {
      if (error instanceof Problem && faultOf(error) !== undefined) return error
      throw error
    }
  }
}

async function redirect(
  reply: AppReply,
  { location, cookies }: Start,
  status: 302 | 303,
): Promise<AppReply> {
  return await reply
    .header('Set-Cookie', [...cookies])
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
    .redirect(location, status)
}

function queryOf(request: AppRequest): URLSearchParams {
  return new URLSearchParams(searchOf(request.url))
}

function connectionOf(request: AppRequest): string {
  return (request.params as { connection: string }).connection
}
