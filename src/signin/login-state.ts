import type { Clock } from '../clock.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import { cookiesWith, cookieValues, hostCookie } from '../http/index.ts'
import type { SessionId, UserId } from '../ids.ts'
import { readState } from '../oidc/index.ts'
import { digest, digestBase64url, randomToken, type Sealer } from '../secrets/index.ts'
import { usedOnce, type Store } from '../store/index.ts'

// Each sign-in has a cookie of its own, named after its state: another tab's answer ends nothing but itself.
const cookiePrefix = '__Host-sign-in-'
const refusalCookieName = '__Host-sign-in.refused'
const lifetimeMs = 10 * 60_000
const maxCookieLength = 3500
// A request head has room for 16 KiB; the newest sign-ins of a browser are kept.
const maxCookies = 5
const maxCookieCharacters = 8_000

/** One sign-in on its way: bound to the browser by a sealed cookie, finished once. */
export interface LoginState {
  /** github, google, or the id of an organization's connection. */
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** Who must answer, and where the code goes: fixed at the start (RFC 9700, section 4.4). */
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly returnTo: string
  readonly startedAt: number
  /** The session that this browser had; it ends when the new one starts. */
  readonly before?: { readonly userId: UserId; readonly sessionId: SessionId } | undefined
  /** The person adds an identity instead of signing in. */
  readonly linking?: boolean | undefined
  /** A test of a connection: nobody is signed in by it. */
  readonly testId?: string | undefined
}

/** What is fresh in every login; state and nonce carry 256 random bits. */
export interface Freshness {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** S256 of the verifier (RFC 7636, section 4.2). */
  readonly challenge: string
}

/** LoginStates of sign-ins. */
export interface LoginStates {
  freshen(): Freshness
  /** The Set-Cookie that binds a sign-in to the browser, and those that take its oldest ones away where it has many. */
  cookiesFor(login: LoginState, cookieHeader: string | undefined): readonly string[]
  /**
   * The browser's sign-in that a response's state names; `callback_invalid` (400) without one, with two, too old, or
   * of another provider. One that was refused is refused again in the same words.
   */
  read(cookieHeader: string | undefined, answer: { provider: string; query: string }): LoginState
  /**
   * Takes the sign-in away from the browser; a refusal is kept beside it, so that whoever loads the page again
   * reads the same.
   */
  endCookies(login: LoginState, refusal?: Problem): readonly string[]
  /**
   * Uses a sign-in up, on every node, with the answer that carries its state; `callback_invalid` the second time, and
   * for another state before anything is written.
   */
  finish(login: LoginState, query: string): Promise<void>
}

/** The state in an answer's query, if there is exactly one. */
export function stateIn(query: string): string | undefined {
  const [state, second] = new URLSearchParams(query).getAll('state')
  return second === undefined ? state : undefined
}

/** Whether the browser has a sign-in under way that this answer belongs to. */
export function hasCookieFor(cookieHeader: string | undefined, query: string): boolean {
  const state = stateIn(query)
  return state !== undefined && cookieValues(cookieHeader, cookieNameOf(state)).length > 0
}

/** Opens the sign-ins under way; nothing is stored until one is finished. */
export function createLoginStates(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): LoginStates {
  return new CookieLoginStates(deps)
}

/** Keeps each sign-in under way in a sealed cookie of the browser that started it. */
class CookieLoginStates implements LoginStates {
  readonly #store: Store
  readonly #sealer: Sealer
  readonly #clock: Clock

  constructor({ store, sealer, clock }: { store: Store; sealer: Sealer; clock: Clock }) {
    this.#store = store
    this.#sealer = sealer
    this.#clock = clock
  }

  freshen(): Freshness {
    const verifier = randomToken(32)
    const challenge = digestBase64url(verifier)
    return { state: randomToken(32), nonce: randomToken(32), verifier, challenge }
  }

  cookiesFor(login: LoginState, cookieHeader: string | undefined): readonly string[] {
    const made = this.#cookie(cookieNameOf(login.state), login)
    return [...this.#surplus(cookieHeader, made.length), made]
  }

  endCookies({ state, provider }: LoginState, refusal?: Problem): readonly string[] {
    const gone = hostCookie(cookieNameOf(state), '', ended)
    if (refusal === undefined) return [gone]
    const { code, message } = refusal
    const refused: Refused = { provider, state, code, detail: message.slice(0, 1000) }
    return [gone, this.#cookie(refusalCookieName, refused)]
  }

  read(
    cookieHeader: string | undefined,
    { provider, query }: { provider: string; query: string },
  ): LoginState {
    const state = stateIn(query) ?? ''
    const [sealed, second] = cookieValues(cookieHeader, cookieNameOf(state))
    if (sealed === undefined) {
      this.#repeatRefusal(cookieHeader, { provider, state })
      this.#refuseStray(cookieHeader, { provider, query })
    }
    if (sealed === undefined || second !== undefined || sealed.length > maxCookieLength) {
      throw invalid('This browser has no sign-in under way that this answer belongs to.')
    }
    const login = this.#open<LoginState>(sealed)
    if (this.#clock.now() - login.startedAt > lifetimeMs) {
      throw invalid('The sign-in took longer than 10 minutes.')
    }
    if (login.provider !== provider) {
      throw invalid('The sign-in was started with another provider.')
    }
    return login
  }

  async finish({ state, startedAt }: LoginState, query: string): Promise<void> {
    readState(query, state)
    const first = await this.#store.transaction(async (tx) => {
      await usedOnce.forget(tx, tx.now)
      return await usedOnce.use(tx, digest(`sign-in ${state}`), startedAt + 2 * lifetimeMs)
    })
    if (!first) throw invalid('This sign-in was finished before.')
  }

  #open<Kept>(sealed: string): Kept {
    try {
      return JSON.parse(this.#sealer.open(sealed, context)) as Kept
    } catch (cause) {
      throw invalid('The cookie of the sign-in is not one of ours.', cause)
    }
  }

  #openIfOurs(sealed: string): LoginState | undefined {
    try {
      return this.#open<LoginState>(sealed)
    } catch {
      return undefined
    }
  }

  #cookie(name: `__Host-${string}`, kept: LoginState | Refused): string {
    return hostCookie(name, this.#sealer.seal(JSON.stringify(kept), context), {
      // A Strict cookie would not be sent on the provider's redirect.
      sameSite: 'Lax',
      maxAgeSeconds: lifetimeMs / 1000,
    })
  }

  /** Throws the refusal that this browser got for the same response before, so that a reload reads the same. */
  #repeatRefusal(
    cookieHeader: string | undefined,
    response: { provider: string; state: string },
  ): void {
    const [sealed] = cookieValues(cookieHeader, refusalCookieName)
    if (sealed === undefined || sealed.length > maxCookieLength) return
    const refused = this.#open<Refused>(sealed)
    if (refused.state !== response.state || refused.provider !== response.provider) return
    throw new Problem(refused.code, refused.detail)
  }

  /** Says what is wrong with a response that belongs to none of the sign-ins under way in this browser. */
  #refuseStray(
    cookieHeader: string | undefined,
    response: { provider: string; query: string },
  ): void {
    for (const { value } of cookiesWith(cookieHeader, cookiePrefix).slice(0, maxCookies)) {
      const running = this.#openIfOurs(value)
      if (running?.provider === response.provider) readState(response.query, running.state)
    }
  }

  /** Ends the oldest sign-ins of a browser that has too many beside a new one. */
  #surplus(cookieHeader: string | undefined, added: number): string[] {
    const sealed = cookiesWith(cookieHeader, cookiePrefix).map(({ name, value }) => ({
      name: name.slice(cookiePrefix.length),
      size: value.length,
      startedAt: this.#openIfOurs(value)?.startedAt ?? 0,
    }))
    let [count, characters] = [1, added]
    const gone: string[] = []
    for (const { name, size } of sealed.toSorted((a, b) => b.startedAt - a.startedAt)) {
      count++
      characters += size
      if (count > maxCookies || characters > maxCookieCharacters) gone.push(name)
    }
    return gone.map((name) => hostCookie(`${cookiePrefix}${name}`, '', ended))
  }
}

const context = ['system', 'sign-in', 'transaction']
const ended = { sameSite: 'Lax', maxAgeSeconds: 0 } as const

/** How a sign-in of this browser was refused last. */
interface Refused {
  readonly provider: string
  readonly state: string
  readonly code: ProblemCode
  readonly detail: string
}

function cookieNameOf(state: string): `__Host-${string}` {
  return `${cookiePrefix}${digestBase64url(`sign-in ${state}`).slice(0, 16)}`
}

function invalid(why: string, cause?: unknown): Problem {
  return new Problem('callback_invalid', `${why} Start again.`, { cause })
}
