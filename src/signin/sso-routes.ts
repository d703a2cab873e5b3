import { markedSession } from '../access/index.ts'
import { Problem } from '../errors.ts'
import { checkSameOrigin, type App, type AppReply, type AppRequest } from '../http/index.ts'
import { faultOf, type RelyingParty } from '../oidc/index.ts'
import { endByProvider, type PendingLink, type Sso } from '../sso/index.ts'
import type { Sealer } from '../secrets/index.ts'
import type { Store } from '../store/index.ts'
import { currentPerson, only, sendPage, type SignInDeps } from './routes.ts'
import { arrivalOf, type Arrival } from './arrival.ts'
import type { SignInTransaction } from './login-state.ts'
import { landingPage } from './pages.ts'
import { confirmPage, confirmRequiredPage, switchPage, testedPage } from './sso-pages.ts'
import { actorOf, createSsoFinishes, type PendingSwitch, type Visitor } from './sso-finish.ts'
import { createPendingConfirmations } from './sso-pending.ts'
import { createSsoStarts, type Starter } from './sso-start.ts'

/** What the company sign-in works with besides. */
export interface SsoDeps extends SignInDeps {
  readonly sso: Sso
  readonly relyingParty: RelyingParty
  readonly store: Store
  readonly sealer: Sealer
}

const base = '/api/v1/auth/sso'
const keysFreshSeconds = 300

/** Hangs the company sign-in: its starts, callbacks, confirmations, and the provider's own calls. */
export function registerSso(scope: App, deps: SsoDeps): void {
  const { sso } = deps
  const starts = createSsoStarts(deps)
  const finishes = createSsoFinishes(deps)
  const links = createPendingConfirmations<PendingLink>(deps, 'confirm')
  const switches = createPendingConfirmations<PendingSwitch>(deps, 'switch')

  only(scope, 'GET', `${base}/login`, async (request, reply) => {
    const { location, cookies } = await starts.byName(queryOf(request), await starterOf(request))
    return await send(reply, location, cookies)
  })

  // A provider may start it either way (OpenID Connect Core 1.0, section 4; Registration 1.0, initiate_login_uri).
  only(scope, 'GET, POST', `${base}/:connection/login`, async (request, reply) => {
    const id = connectionOf(request)
    const form = request.body instanceof URLSearchParams ? request.body : undefined
    const asked = request.method === 'POST' ? form : queryOf(request)
    const start = await starts.byConnection(
      id,
      asked ?? new URLSearchParams(),
      await starterOf(request),
    )
    return await send(reply, start.location, start.cookies, request.method === 'POST' ? 303 : 302)
  })

  only(scope, 'GET', `${base}/:connection/callback`, async (request, reply) => {
    const id = connectionOf(request)
    const path = `${base}/${id}/callback`
    const arrival = arrivalOf(deps, request, { provider: id, path })
    if (arrival.handOver !== undefined) {
      return await reply.header('Referrer-Policy', 'no-referrer').redirect(arrival.handOver, 302)
    }
    const visitor = visitorOf(request)
    const { watch } = deps.callbackLimit
    const end = await watch(visitor.address, opening(arrival), async (transaction) => {
      if (transaction instanceof Problem) return await refuseStray(id, transaction, visitor)
      const finish = async (query: string) => await finishes.finish(transaction, query, visitor)
      return await arrival.finish(transaction, reply, finish)
    })
    switch (end.kind) {
      case 'signed-in':
        reply.header('Set-Cookie', [...end.cookies])
        return await sendPage(reply, landingPage(end.returnTo))
      case 'tested':
        return await sendPage(reply, testedPage(end.connection, end.passed))
      case 'confirm':
        reply.header('Set-Cookie', links.keep(end.link, end.returnTo).cookie)
        return await sendPage(reply, confirmRequiredPage(end.link, providerNames(), request.id))
      case 'switch': {
        const { cookie, mark } = switches.keep(end.wish, end.returnTo)
        reply.header('Set-Cookie', cookie)
        return await sendPage(reply, switchPage(end.wish, end.now, mark))
      }
    }
  })

  only(scope, 'POST', `${base}/switched`, async (request, reply) => {
    checkSameOrigin(request.headers, deps.baseUrl)
    const { wish, returnTo } = switches.read(request.headers.cookie, formOf(request))
    const before = await currentPerson(deps, request)
    const connection = await sso.routing.open(wish.connectionId)
    const visitor = visitorOf(request)
    const admitted = await sso.signIn.admit(connection, wish.person, actorOf(visitor))
    if (admitted.kind !== 'admitted' || admitted.user.id !== wish.userId) {
      throw new Problem('sso_confirmation_required', 'The account has changed. Start again.')
    }
    const cookies = await finishes.startSession(connection, admitted, wish.person, visitor)
    if (before !== undefined) {
      const why = { by: before.userId, reason: 'signed_in_again' }
      await deps.sessions.end(before.userId, { id: before.sessionId }, why)
    }
    reply.header('Set-Cookie', [switches.endCookie, ...cookies])
    return await sendPage(reply, landingPage(returnTo))
  })

  only(scope, 'GET', `${base}/confirm`, async (request, reply) => {
    const { wish: link, mark } = links.read(request.headers.cookie)
    const person = await currentPerson(deps, request)
    const page = person
      ? confirmPage(link, person.name, mark)
      : confirmRequiredPage(link, providerNames(), request.id)
    return await sendPage(reply, page)
  })

  only(scope, 'POST', `${base}/confirmed`, async (request, reply) => {
    checkSameOrigin(request.headers, deps.baseUrl)
    const waiting = links.read(request.headers.cookie, formOf(request))
    const { wish: link, returnTo, startedAt } = waiting
    const person = await currentPerson(deps, request)
    if (!person) throw new Problem('session_missing', 'Sign in the way you did before, first.')
    const connection = await sso.routing.open(link.connectionId)
    await requireOwnProof(person, { organizationId: link.organizationId, startedAt })
    const visitor = visitorOf(request)
    const { address, requestId } = visitor
    const actor = {
      kind: 'user',
      id: person.userId,
      name: person.name,
      address,
      requestId,
    } as const
    const admitted = await sso.signIn.confirm(connection, link, person.userId, actor)
    const cookies = await finishes.startSession(connection, admitted, link.person, visitor)
    const why = { by: person.userId, reason: 'signed_in_again' }
    await deps.sessions.end(person.userId, { id: person.sessionId }, why)
    reply.header('Set-Cookie', [links.endCookie, ...cookies])
    return await sendPage(reply, landingPage(returnTo))
  })

  only(scope, 'POST', `${base}/:connection/logout`, async (request, reply) => {
    // OpenID Connect Back-Channel Logout 1.0, sections 2.5 to 2.8.
    reply.header('Cache-Control', 'no-store')
    const form = formOf(request)
    const tokens = form.getAll('logout_token')
    const [token] = tokens
    try {
      if (token === undefined || tokens.length > 1) {
        throw new Problem('logout_token_invalid', 'There is no logout token, or more than one.')
      }
      const connection = await sso.routing.open(connectionOf(request))
      const provider = await deps.relyingParty.provider(connection.issuer)
      const logout = await deps.relyingParty.logout(token, provider, connection.clientId)
      await endByProvider(deps.store, connection, logout)
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
  })

  only(scope, 'GET', `${base}/:connection/keys`, async (request, reply) => {
    const connection = await sso.connections.findForSignIn(connectionOf(request))
    if (!connection) throw new Problem('sso_not_available')
    const keys = connection.publicJwk === undefined ? [] : [JSON.parse(connection.publicJwk)]
    return await reply
      .type('application/json')
      .header('Cache-Control', `public, max-age=${keysFreshSeconds}`)
      .send(JSON.stringify({ keys }))
  })

  async function starterOf(request: AppRequest): Promise<Starter> {
    const person = await currentPerson(deps, request)
    const before = person && { userId: person.userId, sessionId: person.sessionId }
    const cookieHeader = request.headers.cookie
    return { before, cookieHeader, actor: actorOf(visitorOf(request)) }
  }

  /** An answer that fits no sign-in of a browser which is at this provider: it is refused, and nothing else ends. */
  async function refuseStray(id: string, refusal: Problem, visitor: Visitor): Promise<never> {
    const connection = await sso.connections.findForSignIn(id)
    if (connection) await sso.outcomes.refused(connection, refusal, actorOf(visitor))
    throw refusal
  }

  function visitorOf(request: AppRequest): Visitor {
    const address = deps.addressOf(request)
    return {
      address,
      agent: request.headers['user-agent'],
      requestId: request.id,
      markedSession: markedSession(request.headers.cookie),
    }
  }

  function providerNames(): readonly string[] {
    return deps.providers.map(({ name }) => name)
  }

  /** A sign-in of the person's own, made now or within the hour; another organization's provider proves nothing here. */
  async function requireOwnProof(
    person: { connectionId: string | undefined; signedInAt: number },
    link: { organizationId: string; startedAt: number },
  ): Promise<void> {
    if (person.connectionId !== undefined) {
      const by = await sso.connections.findForSignIn(person.connectionId)
      if (by?.organizationId !== link.organizationId) {
        throw new Problem(
          'own_sign_in_required',
          'Confirm from a sign-in of your own, not from another organization.',
        )
      }
    }
    if (link.startedAt - person.signedInAt > freshForMs) {
      throw new Problem(
        'sign_in_too_old',
        'You signed in more than an hour ago. Sign in again to confirm.',
      )
    }
  }
}

const freshForMs = 3_600_000

function formOf(request: AppRequest): URLSearchParams {
  return request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
}

/** The sign-in that an answer belongs to, or the fault of one that belongs to none under way. */
function opening(arrival: Arrival): () => SignInTransaction | Problem {
  return () => {
    try {
      return arrival.open()
    } catch (error) {
      if (error instanceof Problem && faultOf(error) !== undefined) return error
      throw error
    }
  }
}

async function send(
  reply: AppReply,
  location: string,
  cookies: readonly string[],
  status: 302 | 303 = 302,
): Promise<AppReply> {
  return await reply
    .header('Set-Cookie', [...cookies])
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
    .redirect(location, status)
}

function queryOf(request: AppRequest): URLSearchParams {
  return new URLSearchParams(request.url.split('?')[1] ?? '')
}

function connectionOf(request: AppRequest): string {
  return (request.params as { connection: string }).connection
}
