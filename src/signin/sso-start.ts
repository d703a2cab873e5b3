import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { authorizationUrl, type RelyingParty } from '../oidc/index.ts'
import { TestLines, type Connection, type Sso } from '../sso/index.ts'
import type { Actor } from '../store/index.ts'
import { localPath } from './return-to.ts'
import type { LoginState, LoginStates } from './login-state.ts'

/** Where to send the browser, with the cookies that bind the sign-in to it. */
export interface Start {
  readonly location: string
  readonly cookies: readonly string[]
}

/** The browser that starts a sign-in: its session, and the details for the audit log. */
export interface Starter {
  readonly before: LoginState['before']
  readonly cookieHeader: string | undefined
  readonly actor: Actor
}

interface SsoStartDeps {
  readonly sso: Sso
  readonly relyingParty: RelyingParty
  readonly logins: LoginStates
  readonly clock: Clock
  readonly baseUrl: string
}

interface StartInput {
  readonly returnTo: string
  readonly loginHint: string | undefined
  readonly testId?: string | undefined
}

/** Starts sign-ins through an organization's provider. */
export class SsoStarts {
  readonly #deps: SsoStartDeps

  constructor(deps: SsoStartDeps) {
    this.#deps = deps
  }

  /** Handles `…/sso/login?organization=…` and `…/sso/login?email=…`. */
  async byName(query: URLSearchParams, starter: Starter): Promise<Start> {
    const organization = single(query, 'organization')?.trim().toLowerCase()
    // An unencoded plus sign arrives as a space, which no address contains.
    const email = single(query, 'email')?.trim().replaceAll(' ', '+')
    if ((organization === undefined) === (email === undefined)) {
      throw new Problem('bad_request', 'Name either an organization or an email.')
    }
    const by = email === undefined ? { organization: organization ?? '' } : { email }
    const connection = await this.#deps.sso.routing.find(by)
    const returnTo = localPath(single(query, 'return_to'))
    return await this.#start(connection, { returnTo, loginHint: hintOf(email) }, starter)
  }

  /**
   * Handles `…/sso/<connection>/login`, opened by the provider (OpenID Connect Core 1.0, section 4), a test or a
   * bookmark.
   */
  async byConnection(id: string, query: URLSearchParams, starter: Starter): Promise<Start> {
    const { sso } = this.#deps
    const testId = single(query, 'test')
    if (testId !== undefined) {
      const tested = await sso.connections.findForSignIn(id)
      if (!tested || !(await sso.tests.isOpen(tested, testId))) {
        throw new Problem('not_found', 'This test is over. Start another one.')
      }
      return await this.#start(tested, { returnTo: '/', loginHint: undefined, testId }, starter)
    }
    const connection = await sso.routing.open(id)
    const issuer = single(query, 'iss')
    // An `iss` parameter may only name the provider that this connection already uses.
    if (issuer !== undefined && issuer !== connection.issuer) {
      throw new Problem('callback_issuer_mismatch', 'This connection belongs to another issuer.')
    }
    const target = single(query, 'target_link_uri')
    const returnTo =
      target === undefined ? localPath(single(query, 'return_to')) : this.#ownPath(target)
    const loginHint = hintOf(single(query, 'login_hint'))
    return await this.#start(connection, { returnTo, loginHint }, starter)
  }

  async #start(
    connection: Connection,
    { returnTo, loginHint, testId }: StartInput,
    { before, cookieHeader, actor }: Starter,
  ): Promise<Start> {
    const { relyingParty, logins, clock } = this.#deps
    const isTest = testId !== undefined
    // The discovery document is fetched anew, so that no one is sent to a provider that is down, and so that a test
    // shows the current state.
    const provider = await relyingParty
      .provider(connection.issuer, { fresh: true, freshKeys: isTest })
      .catch(async (error: unknown) => {
        await this.#notePrevented(connection, { testId, error, actor })
        throw error
      })
    const { state, nonce, verifier, challenge } = logins.freshen()
    const location = authorizationUrl(provider, {
      clientId: connection.clientId,
      redirectUri: connection.redirectUri,
      scopes: connection.settings.scopes,
      ...{ state, nonce, challenge, loginHint },
    })
    const login: LoginState = {
      provider: connection.id,
      ...{ state, nonce, verifier },
      issuer: provider.issuer,
      tokenEndpoint: provider.tokenEndpoint,
      returnTo,
      startedAt: clock.now(),
      before: isTest ? undefined : before,
      testId,
    }
    return { location, cookies: logins.cookiesFor(login, cookieHeader) }
  }

  /** Records that a sign-in could not be started: as a refusal, or as the end of a test. */
  async #notePrevented(
    connection: Connection,
    start: {
      readonly testId: string | undefined
      readonly error: unknown
      readonly actor: Actor
    },
  ): Promise<void> {
    const { testId, error, actor } = start
    const { sso } = this.#deps
    if (testId === undefined) return await sso.outcomes.refused(connection, error, actor)
    const lines = new TestLines()
    lines.fail(error, 'discovery')
    await sso.tests.finish(connection, testId, lines)
  }

  /** Returns the path of a URL of our own; '/' for any other URL. */
  #ownPath(target: string): string {
    const { baseUrl } = this.#deps
    return target.startsWith(`${baseUrl}/`) ? localPath(target.slice(baseUrl.length)) : '/'
  }
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  if (values.length > 1) throw new Problem('bad_request', `The parameter ${name} came twice.`)
  const [value] = values
  return value === '' ? undefined : value
}

function hintOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[\x20-\x7e]{1,254}$/.test(text) ? text : undefined
}
