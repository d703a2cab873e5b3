import {
  readSessionCookie,
  requireOwnSignIn,
  sessionCookies,
  sessionEndCookies,
  type Sessions,
  type SignedIn,
} from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import {
  checkSameOrigin,
  searchOf,
  type App,
  type AppReply,
  type AppRequest,
} from '../http/index.ts'
import type { Links, Members, People, ProvenIdentity, Recognized } from '../organizations/index.ts'
import type { Sso } from '../sso/index.ts'
import { isStorable } from '../storable.ts'
import type { Actor } from '../store/index.ts'
import { arrivalOf } from './arrival.ts'
import type { HandOvers } from './hand-over.ts'
import { cookieLostPage, landingPage, signInLinkPage, type Page } from './pages.ts'
import type { CallbackLimit } from './callback-limit.ts'
import type { SignInProvider } from './provider.ts'
import { localPath } from './return-to.ts'
import type { LoginState, LoginStates } from './login-state.ts'

export interface SignInDeps {
  readonly sessions: Sessions
  readonly people: People
  readonly links: Links
  readonly members: Pick<Members, 'endOwnSessions'>
  readonly sso: Pick<Sso, 'logout'>
  readonly logins: LoginStates
  readonly handOvers: HandOvers
  readonly callbackLimit: CallbackLimit
  /**
   * The requests that add an identity to an account. If one of them is refused, the page links to another attempt to
   * add it, not to a sign-in.
   */
  readonly linking: WeakSet<AppRequest>
  readonly providers: readonly SignInProvider[]
  readonly clock: Clock
  readonly baseUrl: string
  readonly authUrl: string
  readonly addressOf: (request: AppRequest) => string
}

// A sign-in that adds an identity ends at a path with the sealed proof of that identity, which includes a name and an
// e-mail address.
const longestLanding = 4100

interface BuiltIn {
  readonly deps: SignInDeps
  readonly name: string
}

/** GET login: redirects the browser to the provider (302) and sets the cookie of this sign-in. */
export async function startSignIn(
  { deps, name }: BuiltIn,
  request: AppRequest,
  reply: AppReply,
): Promise<AppReply> {
  const provider = providerOf(deps, name)
  const query = request.query as Record<string, unknown>
  const before = await currentPerson(deps, request)
  const linking = query['link'] !== undefined
  if (linking) deps.linking.add(request)
  if (linking && !before)
    throw new Problem('session_missing', 'Sign in before you add an identity.')
  if (linking && before) requireOwnSignIn(before)
  const fresh = deps.logins.freshen()
  const { url, issuer, tokenEndpoint } = await provider.start(fresh, redirectUri(deps, name))
  const returnTo = query['return_to']
  const login: LoginState = {
    provider: name,
    state: fresh.state,
    nonce: fresh.nonce,
    verifier: fresh.verifier,
    issuer,
    tokenEndpoint,
    returnTo: localPath(typeof returnTo === 'string' ? returnTo : undefined),
    startedAt: deps.clock.now(),
    before: before && { userId: before.userId, sessionId: before.sessionId },
    linking,
  }
  return await reply
    .header('Set-Cookie', [...deps.logins.cookiesFor(login, request.headers.cookie)])
    .header('Cache-Control', 'no-store')
    .header('Referrer-Policy', 'no-referrer')
    .redirect(url, 302)
}

/** GET callback: verifies the response and starts a session, unless the person is adding an identity. */
export async function finishSignIn(
  { deps, name }: BuiltIn,
  request: AppRequest,
  reply: AppReply,
): Promise<AppReply> {
  const provider = providerOf(deps, name)
  const path = `/api/v1/auth/${name}/callback`
  const arrival = arrivalOf(deps, request, { provider: name, path })
  if (arrival.handOver !== undefined) {
    return await reply.header('Referrer-Policy', 'no-referrer').redirect(arrival.handOver, 302)
  }
  return await deps.callbackLimit.watch(
    deps.addressOf(request),
    () => arrival.open(),
    async (login) => {
      if (login.linking === true) deps.linking.add(request)
      const { proven, person } = await arrival.finish(login, reply, async (query) => {
        await deps.logins.finish(login, query)
        const proven = await provider.finish({
          ...login,
          query,
          redirectUri: redirectUri(deps, name),
        })
        const isLinking = login.linking === true
        const actor = actorOf(deps, request)
        const person = isLinking ? undefined : await deps.people.recognize(proven, actor)
        return { proven, person }
      })
      if (person === undefined) {
        return await sendPage(reply, landingPage(linkProposal(deps, login, proven)))
      }
      const { cookies, page } = await signIn(deps, login, { ...proven, ...person, request })
      // An array gives each cookie a Set-Cookie field line of its own.
      reply.header('Set-Cookie', cookies)
      return await sendPage(reply, page)
    },
  )
}

async function signIn(
  deps: SignInDeps,
  login: LoginState,
  { provider, user, identityId, request }: ProvenIdentity & Recognized & { request: AppRequest },
): Promise<{ cookies: string[]; page: Page }> {
  const started = await deps.sessions.start({
    userId: user.id,
    provider,
    identityId,
    address: deps.addressOf(request),
    agent: request.headers['user-agent'],
    requestId: request.id,
  })
  await endBefore(deps, login)
  return { cookies: [...sessionCookies(started)], page: landingPage(login.returnTo) }
}

function actorOf(deps: SignInDeps, request: AppRequest): Actor {
  return {
    kind: 'system',
    name: 'Sign-in',
    address: deps.addressOf(request),
    requestId: request.id,
  }
}

/** Ends this browser's previous session, so that it is replaced rather than left behind. */
async function endBefore(deps: SignInDeps, { before }: Pick<LoginState, 'before'>): Promise<void> {
  if (!before) return
  const why = { by: before.userId, reason: 'signed_in_again' }
  await deps.sessions.end(before.userId, { id: before.sessionId }, why)
}

/** Returns the path at which the person confirms the new identity in the session they started with; links nothing. */
function linkProposal(deps: SignInDeps, login: LoginState, proven: ProvenIdentity): string {
  if (!login.before) throw new Problem('session_missing', 'Sign in first.')
  return `/you?link=${deps.people.proofOf(proven, login.before)}`
}

/** GET landed: continues to the destination, or explains why there is no session. */
export async function land(
  deps: SignInDeps,
  request: AppRequest,
  reply: AppReply,
): Promise<AppReply> {
  const { return_to: returnTo } = request.query as Record<string, unknown>
  const path = localPath(typeof returnTo === 'string' ? returnTo : undefined, longestLanding)
  const person = await currentPerson(deps, request)
  return person
    ? await reply.redirect(path, 302)
    : await sendPage(reply, cookieLostPage(deps.baseUrl))
}

/**
 * POST logout: ends the session, if there is one; answers 204, or 200 with the URL that also ends the provider's
 * session.
 */
export async function logOut(
  deps: SignInDeps,
  request: AppRequest,
  reply: AppReply,
): Promise<AppReply> {
  checkSameOrigin(request.headers, deps.baseUrl)
  const person = await currentPerson(deps, request)
  if (person) {
    const { userId, sessionId, name } = person
    const from = { address: deps.addressOf(request), requestId: request.id }
    const actor = { kind: 'user', id: userId, name, ...from } as const
    await deps.members.endOwnSessions({ userId, which: { id: sessionId } }, 'signed_out', actor)
  }
  reply.header('Set-Cookie', [...sessionEndCookies]).header('Clear-Site-Data', '"cache", "storage"')
  const { sessionId, connectionId } = person ?? {}
  const address =
    sessionId === undefined || connectionId === undefined
      ? undefined
      : await deps.sso.logout.addressFor({ sessionId, connectionId })
  if (address === undefined) return await reply.code(204).send()
  return await reply
    .code(200)
    .type('application/json')
    .header('Cache-Control', 'no-store')
    .send(JSON.stringify({ provider_logout_url: address }))
}

/** GET of a sign-in link: shows a page and does not use the link up. */
export async function showSignInLink(request: AppRequest, reply: AppReply): Promise<AppReply> {
  const { token } = request.query as Record<string, unknown>
  return await sendPage(reply, signInLinkPage(typeof token === 'string' ? token : ''))
}

/** POST of a sign-in link: uses it up and signs the person in. */
export async function useSignInLink(
  deps: SignInDeps,
  request: AppRequest,
  reply: AppReply,
): Promise<AppReply> {
  checkSameOrigin(request.headers, deps.baseUrl)
  const token = formOf(request).get('token') ?? ''
  const before = await currentPerson(deps, request)
  const user = await deps.callbackLimit.watch(
    deps.addressOf(request),
    () => token,
    async () => await deps.links.useSignInLink(token),
  )
  const started = await deps.sessions.start({
    userId: user.id,
    provider: 'sign_in_link',
    address: deps.addressOf(request),
    agent: request.headers['user-agent'],
    requestId: request.id,
  })
  await endBefore(deps, { before })
  reply.header('Set-Cookie', sessionCookies(started))
  return await sendPage(reply, landingPage('/'))
}

export function formOf({ body }: AppRequest): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

export async function sendPage(reply: AppReply, page: Page): Promise<AppReply> {
  return await reply.code(page.status).headers(page.headers).send(page.html)
}

/** Returns the URL to which a provider redirects back, taken only from the settings, never from a header. */
function redirectUri(deps: SignInDeps, name: string): string {
  return `${deps.authUrl}/api/v1/auth/${name}/callback`
}

function providerOf(deps: SignInDeps, name: string): SignInProvider {
  const provider = deps.providers.find((one) => one.name === name)
  if (!provider) {
    throw new Problem('provider_not_configured', `Sign-in with ${name} is not set up here.`)
  }
  return provider
}

export async function currentPerson(
  deps: SignInDeps,
  request: AppRequest,
): Promise<SignedIn | undefined> {
  try {
    return await deps.sessions.identify(readSessionCookie(request.headers.cookie))
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return undefined
    throw error
  }
}

type Handler = (request: AppRequest, reply: AppReply) => Promise<AppReply>

/** Registers a route without HEAD, because a HEAD must not begin or end a sign-in. */
export function only(app: App, route: string, handler: Handler): void {
  const at = route.lastIndexOf(' ')
  const [method, url] = [route.slice(0, at).split(', '), route.slice(at + 1)]
  app.route({
    method,
    url,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      checkTexts(request)
      return await handler(request, reply)
    },
  })
}

function checkTexts({ url, params, body }: AppRequest): void {
  const form = body instanceof URLSearchParams ? body : []
  const given = [...new URLSearchParams(searchOf(url)), ...form].flat()
  if ([...Object.values(params as object), ...given].every((text) => isStorable(text))) return
  throw new Problem('bad_request', 'The request holds the character U+0000.')
}
