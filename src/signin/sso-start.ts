import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { authorizationUrl, type RelyingParty } from '../oidc/index.ts'
import { createTestLines, type Connection, type Sso } from '../sso/index.ts'
import type { Actor } from '../store/index.ts'
import { localPath } from './return-to.ts'
import type { SignInTransaction, Transactions } from './login-state.ts'

/** Where a browser is sent, and the cookies that bind the sign-in to it. */
export interface Start {
  readonly location: string
  readonly cookies: readonly string[]
}

/** Who starts: the session that the browser has, and what the audit log says of it. */
export interface Starter {
  readonly before: SignInTransaction['before']
  /** What the browser has kept so far. */
  readonly cookieHeader: string | undefined
  readonly actor: Actor
}

/** Begins sign-ins through an organization's provider. */
export interface SsoStarts {
  /** `…/sso/login?organization=…|email=…`; `bad_request`, the `sso_…` and `idp_…` problems. */
  byName(query: URLSearchParams, starter: Starter): Promise<Start>
  /** `…/sso/<connection>/login`: started by the provider (Core 1.0, section 4), by a test, or by a bookmark. */
  byConnection(id: string, query: URLSearchParams, starter: Starter): Promise<Start>
}

/** Opens the starts. */
export function createSsoStarts(deps: {
  sso: Sso
  relyingParty: RelyingParty
  transactions: Transactions
  clock: Clock
  baseUrl: string
}): SsoStarts {
  const { sso, transactions } = deps

  async function start(
    connection: Connection,
    wish: {
      returnTo: string
      loginHint: string | undefined
      testId?: string | undefined
    },
    { before, cookieHeader, actor }: Starter,
  ): Promise<Start> {
    const isTest = wish.testId !== undefined
    // Nobody is sent to a provider that is down, and a test shows what is true now.
    const provider = await deps.relyingParty
      .provider(connection.issuer, { fresh: true, freshKeys: isTest })
      .catch(async (error: unknown) => {
        await note(connection, wish.testId, error, actor)
        throw error
      })
    const fresh = transactions.freshen()
    const location = authorizationUrl(provider, {
      clientId: connection.clientId,
      redirectUri: connection.redirectUri,
      scopes: connection.settings.scopes,
      state: fresh.state,
      nonce: fresh.nonce,
      challenge: fresh.challenge,
      loginHint: wish.loginHint,
    })
    const { state, nonce, verifier } = fresh
    const transaction: SignInTransaction = {
      provider: connection.id,
      ...{ state, nonce, verifier },
      issuer: provider.issuer,
      tokenEndpoint: provider.tokenEndpoint,
      returnTo: wish.returnTo,
      startedAt: deps.clock.now(),
      before: isTest ? undefined : before,
      testId: wish.testId,
    }
    return { location, cookies: transactions.cookiesFor(transaction, cookieHeader) }
  }

  /** A start that the provider prevents is a refused sign-in, or the end of the test. */
  async function note(
    connection: Connection,
    testId: string | undefined,
    error: unknown,
    actor: Actor,
  ): Promise<void> {
    if (testId === undefined) return await sso.outcomes.refused(connection, error, actor)
    const lines = createTestLines()
    lines.fail(error, 'discovery')
    await sso.tests.finish(connection, testId, lines)
  }

  return {
    async byName(query, starter) {
      const organization = single(query, 'organization')?.trim().toLowerCase()
      // A plus sign that nobody encoded arrives as a space, which no address holds.
      const email = single(query, 'email')?.trim().replaceAll(' ', '+')
      if ((organization === undefined) === (email === undefined)) {
        throw new Problem('bad_request', 'Name either an organization or an email.')
      }
      const by = email === undefined ? { organization: organization ?? '' } : { email }
      const connection = await sso.routing.find(by)
      const returnTo = localPath(single(query, 'return_to'))
      return await start(connection, { returnTo, loginHint: hintOf(email) }, starter)
    },
    async byConnection(id, query, starter) {
      const testId = single(query, 'test')
      if (testId !== undefined) {
        const tested = await sso.connections.findForSignIn(id)
        if (!tested || !(await sso.tests.isOpen(tested, testId))) {
          throw new Problem('not_found', 'This test is over. Start another one.')
        }
        return await start(tested, { returnTo: '/', loginHint: undefined, testId }, starter)
      }
      const connection = await sso.routing.open(id)
      const issuer = single(query, 'iss')
      // Whoever starts it may only name the provider that is ours already (O17).
      if (issuer !== undefined && issuer !== connection.issuer) {
        throw new Problem('callback_issuer_mismatch', 'This connection belongs to another issuer.')
      }
      const target = single(query, 'target_link_uri')
      const returnTo =
        target === undefined ? localPath(single(query, 'return_to')) : ownPath(target)
      return await start(
        connection,
        { returnTo, loginHint: hintOf(single(query, 'login_hint')) },
        starter,
      )
    },
  }

  /** The path of an address of our own; '/' for any other. */
  function ownPath(target: string): string {
    if (!target.startsWith(`${deps.baseUrl}/`)) return '/'
    return localPath(target.slice(deps.baseUrl.length))
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
