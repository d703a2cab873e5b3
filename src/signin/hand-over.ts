import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { readState } from '../oidc/index.ts'
import { digest, type Sealer } from '../secrets/index.ts'
import { usedOnce, type Store } from '../store/index.ts'
import { hasCookieFor } from './login-state.ts'

const lifetimeMs = 30_000
const context = ['system', 'sign-in', 'hand-over']

/**
 * Carries a provider's answer from the identity address to the base address, when these are two: the transaction's
 * cookie is at the base address, so the answer counts only in the browser that started.
 */
export interface HandOvers {
  /** A code for the query that the provider sent to this provider's callback; 30 s, once. */
  make(provider: string, query: string): string
  /** The query behind a code, which is not used up; `callback_invalid` (400) for an old, altered or swapped one. */
  look(code: string, provider: string): string
  /**
   * The query behind a code; `callback_invalid` (400) for a used, old, altered or swapped one, and before anything is
   * written for one that does not carry the state of this browser's sign-in.
   */
  use(code: string, expected: { provider: string; state: string }): Promise<string>
}

/**
 * Whether an answer that has just arrived belongs to the base address: always where the browser's cookie would come along
 * (cookies know no ports), else unless the sign-in was started at the identity address itself.
 */
export function isForBase(
  deps: { baseUrl: string; authUrl: string },
  arrived: { code: string | null; query: string; cookie: string | undefined },
): boolean {
  if (deps.authUrl === deps.baseUrl || arrived.code !== null) return false
  const sameHost = new URL(deps.authUrl).hostname === new URL(deps.baseUrl).hostname
  return sameHost || !hasCookieFor(arrived.cookie, arrived.query)
}

interface Carried {
  readonly provider: string
  readonly query: string
  readonly at: number
}

/** Opens the hand-overs; a code carries everything itself, sealed. */
export function createHandOvers(deps: { store: Store; sealer: Sealer; clock: Clock }): HandOvers {
  const { store, sealer, clock } = deps

  function read(code: string, provider: string): Carried {
    const carried = open(sealer, code)
    const late = carried === undefined || clock.now() - carried.at > lifetimeMs
    if (late || carried.provider !== provider) throw invalid()
    return carried
  }

  return {
    make: (provider, query) =>
      Buffer.from(
        sealer.seal(
          JSON.stringify({ provider, query, at: clock.now() } satisfies Carried),
          context,
        ),
      ).toString('base64url'),
    look: (code, provider) => read(code, provider).query,
    async use(code, { provider, state }) {
      const carried = read(code, provider)
      readState(carried.query, state)
      // What it says, not how it is written: base64url has several spellings of the same bytes.
      const codeDigest = digest(`hand-over ${JSON.stringify(carried)}`)
      const first = await store.transaction(
        async (tx) => await usedOnce.use(tx, codeDigest, carried.at + 2 * lifetimeMs),
      )
      if (!first) throw invalid()
      return carried.query
    },
  }
}

function open(sealer: Sealer, code: string): Carried | undefined {
  try {
    const sealed = Buffer.from(code, 'base64url').toString()
    return JSON.parse(sealer.open(sealed, context)) as Carried
  } catch {
    return undefined
  }
}

function invalid(): Problem {
  return new Problem('callback_invalid', 'The sign-in took too long on its way back. Start again.')
}
