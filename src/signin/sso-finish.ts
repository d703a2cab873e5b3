import { sessionCookies, type Sessions } from '../access/index.ts'
import { Problem } from '../errors.ts'
import { readCallback, type RelyingParty } from '../oidc/index.ts'
import {
  requireStanding,
  TestLines,
  readPerson,
  withDecidingGroups,
  type Admitted,
  type CompanyPerson,
  type Connection,
  type PendingLink,
  type Sso,
} from '../sso/index.ts'
import type { UserId } from '../ids.ts'
import type { Actor } from '../store/index.ts'
import type { LoginState, LoginStates } from './login-state.ts'

/** The result of a sign-in through an organization's provider; failures are Problems. */
export type SsoEnd =
  | { readonly kind: 'signed-in'; readonly cookies: readonly string[]; readonly returnTo: string }
  | {
      readonly kind: 'switch'
      readonly input: PendingSwitch
      readonly returnTo: string
      readonly now: string
    }
  | { readonly kind: 'confirm'; readonly link: PendingLink; readonly returnTo: string }
  | { readonly kind: 'tested'; readonly passed: boolean; readonly connection: Connection }

/** A verified sign-in that needs confirmation because it would replace the person signed in with this browser. */
export interface PendingSwitch {
  readonly connectionId: string
  readonly organizationId: string
  readonly person: CompanyPerson
  readonly userId: UserId
  readonly name: string
}

/** The browser that makes the request. */
export interface Visitor {
  readonly address: string
  readonly agent: string | undefined
  readonly requestId: string
  /** The session that the browser claims to have. */
  readonly markedSession?: string | undefined
}

/** A person admitted through a connection. */
export interface Entry {
  readonly connection: Connection
  readonly admitted: Admitted
  readonly person: CompanyPerson
}

// Nobody should have to wait longer than ten seconds until a sign-in succeeds or fails, whatever the provider does.
const budgetMs = 9_000

/** Completes sign-ins through an organization's provider. */
export class SsoFinishes {
  readonly #deps: {
    readonly sso: Sso
    readonly relyingParty: RelyingParty
    readonly logins: LoginStates
    readonly sessions: Sessions
  }

  constructor(deps: {
    readonly sso: Sso
    readonly relyingParty: RelyingParty
    readonly logins: LoginStates
    readonly sessions: Sessions
  }) {
    this.#deps = deps
  }

  /** Verifies the response and starts a session, unless the person must confirm something first or this is a test. */
  async finish(login: LoginState, query: string, visitor: Visitor): Promise<SsoEnd> {
    const { sso } = this.#deps
    if (login.testId !== undefined) return await this.#finishTest(login, login.testId, query)
    const connection = await sso.routing.open(login.provider)
    try {
      return await this.#admit({ connection, login, query }, visitor)
    } catch (error) {
      await sso.outcomes.refused(connection, error, actorOf(visitor))
      throw error
    }
  }

  /** Starts a session and returns its cookies; throws if the person is no longer admitted. */
  async startSession(
    { connection, admitted, person }: Entry,
    visitor: Visitor,
  ): Promise<readonly string[]> {
    const { sso, sessions } = this.#deps
    const input = {
      userId: admitted.user.id,
      provider: 'sso',
      identityId: admitted.identityId,
      connectionId: connection.id,
      maxMs: connection.settings.sessionMaximumMs,
      ...{ address: visitor.address, agent: visitor.agent },
    }
    const actor = actorOf(visitor)
    const started = await sessions.start(input, async (tx, session) => {
      await requireStanding(tx, connection, admitted)
      await sso.outcomes.signedIn(tx, connection, { person, session, actor })
    })
    return sessionCookies(started)
  }

  async #admit(response: SsoResponse, visitor: Visitor): Promise<SsoEnd> {
    const { sso } = this.#deps
    const { connection, login } = response
    const actor = actorOf(visitor)
    const person = await this.#prove(response)
    const admitted = await sso.signIn.admit(connection, person, actor)
    const { returnTo } = login
    if (admitted.kind === 'confirm') {
      await sso.outcomes.asked(connection, admitted, actor)
      return { kind: 'confirm', link: admitted, returnTo }
    }
    const now = await this.#somebodyElse(admitted, login, visitor)
    if (now !== undefined) {
      const { id: userId, name } = admitted.user
      const { id: connectionId, organizationId } = connection
      const short = withDecidingGroups(person, connection.settings)
      const input = { connectionId, organizationId, person: short, userId, name }
      return { kind: 'switch', input, returnTo, now }
    }
    const cookies = await this.startSession({ connection, admitted, person }, visitor)
    await this.#endBefore(login)
    return { kind: 'signed-in', cookies, returnTo }
  }

  /**
   * Returns the name of the person whom this sign-in would replace, if it began on another site. That person is asked
   * first, because a foreign provider can start a sign-in in anyone's browser and respond with any identity (login
   * CSRF).
   */
  async #somebodyElse(
    { user }: Admitted,
    { before }: LoginState,
    { markedSession }: Visitor,
  ): Promise<string | undefined> {
    if (markedSession === undefined || before?.sessionId === markedSession) return undefined
    const holder = await this.#deps.sessions.holderOf(markedSession)
    return holder === undefined || holder.userId === user.id ? undefined : holder.name
  }

  /** Verifies the person's identity; does not decide whether they are admitted. */
  async #prove(
    { connection, login, query }: SsoResponse,
    passed: (step: keyof typeof passedSentences) => void = () => {},
  ): Promise<CompanyPerson> {
    const { sso, relyingParty, logins } = this.#deps
    await logins.finish(login, query)
    const signal = AbortSignal.timeout(budgetMs)
    const provider = await relyingParty.provider(connection.issuer)
    // The connection must still lead to the provider to which the browser was sent.
    if (provider.issuer !== login.issuer || provider.tokenEndpoint !== login.tokenEndpoint) {
      throw new Problem(
        'sso_connection_disabled',
        'The connection was changed meanwhile. Start again.',
      )
    }
    passed('discovery')
    const { code } = readCallback(query, { state: login.state, provider })
    passed('answer')
    const client = await sso.connections.clientOf(connection)
    const { verifier, nonce } = login
    const { askUserInfo } = connection.settings
    const proven = await relyingParty.signIn(
      { provider, client, grant: { code, verifier, nonce } },
      { signal, askUserInfo, passed },
    )
    return readPerson(proven, connection.settings)
  }

  async #finishTest(login: LoginState, testId: string, query: string): Promise<SsoEnd> {
    const { sso } = this.#deps
    const connection = await sso.connections.findForSignIn(login.provider)
    if (!connection) throw new Problem('sso_connection_disabled', 'The connection is gone.')
    const lines = new TestLines()
    try {
      const person = await this.#prove({ connection, login, query }, (step) =>
        lines.pass(step, passedSentences[step]),
      )
      lines.read(person)
      lines.pass('claims', claimsSentence(connection, person))
      lines.pass('decision', await sso.signIn.preview(connection, person))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      lines.fail(error)
    }
    await sso.tests.finish(connection, testId, lines)
    return { kind: 'tested', passed: lines.failure() === undefined, connection }
  }

  async #endBefore({ before }: LoginState): Promise<void> {
    if (before === undefined) return
    const why = { by: before.userId, reason: 'signed_in_again' }
    await this.#deps.sessions.end(before.userId, { id: before.sessionId }, why)
  }
}

interface SsoResponse {
  readonly connection: Connection
  readonly login: LoginState
  readonly query: string
}

function claimsSentence({ settings }: Connection, person: CompanyPerson): string {
  if (settings.groupRoles.length === 0 || person.groups !== undefined) {
    return 'The claims are read as shown.'
  }
  return person.groupsLeftOut
    ? 'The claims are read as shown. The person is in more groups than a token holds: roles by groups stay as they are.'
    : `The claims are read as shown. There is no list of groups (claim ${settings.claims.groups}): roles by groups stay as they are.`
}

const passedSentences = {
  discovery: 'The discovery document is acceptable.',
  answer: 'The answer belongs to this sign-in.',
  token: 'The code was exchanged.',
  id_token: 'Signature, issuer, audience, times and nonce of the id_token are right.',
  userinfo: 'UserInfo speaks of the same person.',
} as const

/** Returns the actor for a sign-in's audit entries: nobody is signed in until it succeeds. */
export function actorOf(visitor: Visitor): Actor {
  return {
    kind: 'system',
    name: 'Company sign-in',
    address: visitor.address,
    requestId: visitor.requestId,
  }
}
