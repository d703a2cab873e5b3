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
export interface SignInTransaction {
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

/** What is fresh in every transaction; state and nonce carry 256 random bits. */
export interface Freshness {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  /** S256 of the verifier (RFC 7636, section 4.2). */
  readonly challenge: string
}

/** Transactions of sign-ins. */
export interface Transactions {
  freshen(): Freshness
  /** The Set-Cookie that binds a transaction to the browser, and those that take its oldest ones away where it has many. */
  cookiesFor(transaction: SignInTransaction, cookieHeader: string | undefined): readonly string[]
  /**
   * The browser's transaction that an answer's state names; `callback_invalid` (400) without one, with two, too old, or
   * of another provider. One that was refused is refused again in the same words.
   */
  read(
    cookieHeader: string | undefined,
    answer: { provider: string; query: string },
  ): SignInTransaction
  /**
   * Takes the transaction away from the browser; a refusal is kept beside it, so that whoever loads the page again
   * reads the same.
   */
  endCookies(transaction: SignInTransaction, refusal?: Problem): readonly string[]
  /**
   * Uses a transaction up, on every node, with the answer that carries its state; `callback_invalid` the second time, and
   * for another state before anything is written.
   */
  finish(transaction: SignInTransaction, query: string): Promise<void>
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

/** Opens the transactions; nothing is stored until one is finished. */
export function createTransactions(deps: {
  store: Store
  sealer: Sealer
  clock: Clock
}): Transactions {
  const { store, sealer, clock } = deps

  function open<Kept>(sealed: string): Kept {
    try {
      return JSON.parse(sealer.open(sealed, context)) as Kept
    } catch (cause) {
      throw invalid('The cookie of the sign-in is not one of ours.', cause)
    }
  }

  function cookieOf(name: `__Host-${string}`, kept: SignInTransaction | Refused): string {
    return hostCookie(name, sealer.seal(JSON.stringify(kept), context), {
      // Strict would not arrive on the provider's redirect (F3).
      sameSite: 'Lax',
      maxAgeSeconds: lifetimeMs / 1000,
    })
  }

  /** Throws what the answer of this state was refused with, if this browser has seen that. */
  function repeatRefusal(
    cookieHeader: string | undefined,
    answer: { provider: string; state: string },
  ): void {
    const [sealed] = cookieValues(cookieHeader, refusalCookieName)
    if (sealed === undefined || sealed.length > maxCookieLength) return
    const refused = open<Refused>(sealed)
    if (refused.state !== answer.state || refused.provider !== answer.provider) return
    throw new Problem(refused.code, refused.detail)
  }

  /** Says what is wrong with an answer that belongs to none of the sign-ins that this browser has under way. */
  function refuseStray(
    cookieHeader: string | undefined,
    answer: { provider: string; query: string },
  ): void {
    for (const { value } of cookiesWith(cookieHeader, cookiePrefix).slice(0, maxCookies)) {
      const running = opened(value)
      if (running?.provider === answer.provider) readState(answer.query, running.state)
    }
  }

  function opened(sealed: string): SignInTransaction | undefined {
    try {
      return open<SignInTransaction>(sealed)
    } catch {
      return undefined
    }
  }

  /** Cookies of sign-ins that a browser need not keep beside a new one. */
  function surplus(cookieHeader: string | undefined, added: number): string[] {
    const sealed = cookiesWith(cookieHeader, cookiePrefix).map(({ name, value }) => ({
      name: name.slice(cookiePrefix.length),
      size: value.length,
      startedAt: opened(value)?.startedAt ?? 0,
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

  return {
    freshen() {
      const verifier = randomToken(32)
      const challenge = digestBase64url(verifier)
      return { state: randomToken(32), nonce: randomToken(32), verifier, challenge }
    },
    cookiesFor(transaction, cookieHeader) {
      const made = cookieOf(cookieNameOf(transaction.state), transaction)
      return [...surplus(cookieHeader, made.length), made]
    },
    endCookies({ state, provider }, refusal) {
      const gone = hostCookie(cookieNameOf(state), '', ended)
      if (refusal === undefined) return [gone]
      const { code, message } = refusal
      const refused: Refused = { provider, state, code, detail: message.slice(0, 1000) }
      return [gone, cookieOf(refusalCookieName, refused)]
    },
    read(cookieHeader, { provider, query }) {
      const state = stateIn(query) ?? ''
      const [sealed, second] = cookieValues(cookieHeader, cookieNameOf(state))
      if (sealed === undefined) {
        repeatRefusal(cookieHeader, { provider, state })
        refuseStray(cookieHeader, { provider, query })
      }
      if (sealed === undefined || second !== undefined || sealed.length > maxCookieLength) {
        throw invalid('This browser has no sign-in under way that this answer belongs to.')
      }
      const transaction = open<SignInTransaction>(sealed)
      if (clock.now() - transaction.startedAt > lifetimeMs) {
        throw invalid('The sign-in took longer than 10 minutes.')
      }
      if (transaction.provider !== provider) {
        throw invalid('The sign-in was started with another provider.')
      }
      return transaction
    },
    async finish({ state, startedAt }, query) {
      readState(query, state)
      const first = await store.transaction(async (tx) => {
        await usedOnce.forget(tx, tx.now)
        return await usedOnce.use(tx, digest(`sign-in ${state}`), startedAt + 2 * lifetimeMs)
      })
      if (!first) throw invalid('This sign-in was finished before.')
    },
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
