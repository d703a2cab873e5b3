import type { Clock } from '../clock.ts'
import { Problem, type ProblemCode } from '../errors.ts'
import { cookiesWith, cookieValues, hostCookie } from '../http/index.ts'
import type { SessionId, UserId } from '../ids.ts'
import { readState } from '../oidc/index.ts'
import { digest, digestBase64url, randomToken, type Sealer } from '../secrets/index.ts'
import { usedOnce, type Store } from '../store/index.ts'
import { minuteMs } from '../units.ts'

// Each sign-in has its own cookie, named after its state, so that a response in one tab does not end the sign-in of
// another.
const cookiePrefix = '__Host-sign-in-'
const refusalCookieName = '__Host-sign-in.refused'
const lifetimeMs = 10 * minuteMs
const maxCookieLength = 3500
// A request's headers are limited to 16 KiB in all, so only a browser's newest sign-ins are kept.
const maxCookies = 5
const maxCookieCharacters = 8_000

/** A sign-in in progress: bound to the browser by a sealed cookie, and finished only once. */
export interface LoginState {
  /** github, google, or the id of an organization's connection. */
  readonly provider: string
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The expected issuer and token endpoint, fixed at the start (RFC 9700, section 4.4). */
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly returnTo: string
  readonly startedAt: number
  /** The browser's session at the start of the sign-in, if any; it ends when the sign-in starts a new one. */
  readonly before?: { readonly userId: UserId; readonly sessionId: SessionId } | undefined
  /** Whether the person adds an identity instead of signing in. */
  readonly linking?: boolean | undefined
  /** Set for a test of a connection, which signs nobody in. */
  readonly testId?: string | undefined
}

/** The values created anew for every sign-in. */
export interface Freshness {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** The S256 challenge of the verifier (RFC 7636, section 4.2). */
  readonly challenge: string
}

/** Binds sign-ins in progress to browsers, and lets each finish once. */
export interface LoginStates {
  freshen(): Freshness
  /**
   * Returns the Set-Cookie values that bind a sign-in to the browser, and that remove the browser's oldest sign-ins if
   * it has too many.
   */
  cookiesFor(login: LoginState, cookieHeader: string | undefined): readonly string[]
  /**
   * Finds the browser's sign-in by the state of a response; throws if there is none with this provider, or if it is
   * older than ten minutes.
   */
  read(cookieHeader: string | undefined, answer: { provider: string; query: string }): LoginState
  /**
   * Returns the Set-Cookie values that remove the sign-in from the browser and that keep a refusal, if there is one, so
   * that reloading the page shows the same text.
   */
  endCookies(login: LoginState, refusal?: Problem): readonly string[]
  /** Marks a sign-in as finished on every node; throws `callback_invalid` if it was finished before. */
  finish(login: LoginState, query: string): Promise<void>
}

/** Returns the state in a response's query, if there is exactly one. */
export function stateIn(query: string): string | undefined {
  const [state, second] = new URLSearchParams(query).getAll('state')
  return second === undefined ? state : undefined
}

/** Whether the browser has a sign-in in progress that this response belongs to. */
export function hasCookieFor(cookieHeader: string | undefined, query: string): boolean {
  const state = stateIn(query)
  return state !== undefined && cookieValues(cookieHeader, cookieNameOf(state)).length > 0
}

/** Creates the login states; nothing is stored until a sign-in is finished. */
export function createLoginStates(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): LoginStates {
  return new CookieLoginStates(deps)
}

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

  /**
   * Throws the refusal that this browser already got for the same response, if any, so that a reload shows the same
   * text.
   */
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

  /** Refuses a response that belongs to none of this browser's sign-ins, if one of them is with the same provider. */
  #refuseStray(
    cookieHeader: string | undefined,
    response: { provider: string; query: string },
  ): void {
    for (const { value } of cookiesWith(cookieHeader, cookiePrefix).slice(0, maxCookies)) {
      const running = this.#openIfOurs(value)
      if (running?.provider === response.provider) readState(response.query, running.state)
    }
  }

  /** Returns the cookies that remove a browser's oldest sign-ins, if it would have too many with one more. */
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

/** How this browser's sign-in was last refused. */
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
