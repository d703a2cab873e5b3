import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { readState } from '../oidc/index.ts'
import { digest, type Sealer } from '../secrets/index.ts'
import { usedOnce, type Store } from '../store/index.ts'
import { hasCookieFor } from './login-state.ts'

const lifetimeMs = 30_000
const context = ['system', 'sign-in', 'hand-over']

/**
 * Passes a provider's response on from the identity URL (`authUrl`) to the base URL. A response is accepted only
 * together with the sign-in's cookie, which the browser sends only to the host where the sign-in was started.
 */
export interface HandOvers {
  /** Creates a code for the query of a provider's callback; valid once, for 30 s. */
  make(provider: string, query: string): string
  /** Returns a code's query without consuming the code; throws `callback_invalid` (400) if the code is not valid. */
  look(code: string, provider: string): string
  /**
   * Consumes a code and returns its query; throws `callback_invalid` (400) if the code is not valid or was used. A
   * query without the state of this browser's sign-in is refused before anything is written.
   */
  use(code: string, expected: { provider: string; state: string }): Promise<string>
}

/**
 * Whether a response must be handed over to the base URL: a missing cookie shows that the sign-in was started there. If
 * both URLs have the same host, the cookie shows nothing, because cookies ignore ports.
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

/** A code is the sealed query itself, so that nothing is stored until the code is used. */
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
      // Digest the content rather than the text: several base64url spellings decode to the same bytes.
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
