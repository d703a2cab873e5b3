import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { cookieValues, hostCookie } from '../http/index.ts'
import type { SessionId, UserId } from '../ids.ts'
import { readState } from '../oidc/index.ts'
import { digest, digestBase64url, randomToken, type Sealer } from '../secrets/index.ts'
import { usedOnce, type Store } from '../store/index.ts'

const cookieName = '__Host-sign-in'
const lifetimeMs = 10 * 60_000
const longestCookie = 3500

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
  /** The Set-Cookie that binds a transaction to the browser. */
  cookieFor(transaction: SignInTransaction): string
  /** The browser's transaction; `callback_invalid` (400) without one, with two, too old, or of another provider. */
  read(cookieHeader: string | undefined, provider: string): SignInTransaction
  /**
   * Uses a transaction up, on every node, with the answer that carries its state; `callback_invalid` the second time, and
   * for another state before anything is written.
   */
  finish(transaction: SignInTransaction, query: string): Promise<void>
}

/** Takes the transaction away from the browser. */
export const transactionEndCookie = hostCookie(cookieName, '', {
  sameSite: 'Lax',
  maxAgeSeconds: 0,
})

/** Opens the transactions; nothing is stored until one is finished. */
export function createTransactions(needs: {
  store: Store
  sealer: Sealer
  clock: Clock
}): Transactions {
  const { store, sealer, clock } = needs

  function open(sealed: string): SignInTransaction {
    try {
      return JSON.parse(sealer.open(sealed, context)) as SignInTransaction
    } catch (cause) {
      throw invalid('The cookie of the sign-in is not one of ours.', cause)
    }
  }

  return {
    freshen() {
      const verifier = randomToken(32)
      const challenge = digestBase64url(verifier)
      return { state: randomToken(32), nonce: randomToken(32), verifier, challenge }
    },
    cookieFor: (transaction) =>
      hostCookie(cookieName, sealer.seal(JSON.stringify(transaction), context), {
        // Strict would not arrive on the provider's redirect (F3).
        sameSite: 'Lax',
        maxAgeSeconds: lifetimeMs / 1000,
      }),
    read(cookieHeader, provider) {
      const [sealed, second] = cookieValues(cookieHeader, cookieName)
      if (sealed === undefined || second !== undefined || sealed.length > longestCookie) {
        throw invalid('This browser has not started a sign-in, or has finished it already.')
      }
      const transaction = open(sealed)
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

function invalid(why: string, cause?: unknown): Problem {
  return new Problem('callback_invalid', `${why} Start again.`, { cause })
}
