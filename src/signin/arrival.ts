import { Problem } from '../errors.ts'
import { searchOf, type AppReply, type AppRequest } from '../http/index.ts'
import { isForBase, type HandOvers } from './hand-over.ts'
import type { LoginState, LoginStates } from './login-state.ts'

/** A provider's response that reached a callback, and how to find its sign-in. */
export interface Arrival {
  /** The URL to which the browser must take the response; undefined if it may be processed here. */
  readonly handOver: string | undefined
  /** Finds the browser's sign-in that the response belongs to, without consuming anything. Throws if there is none. */
  open(): LoginState
  /**
   * Runs `work` with the response's query, and removes the sign-in's cookie from the browser whether or not `work`
   * succeeds.
   */
  finish<T>(login: LoginState, reply: AppReply, work: (query: string) => Promise<T>): Promise<T>
}

/** Reads a request to a provider's callback. */
export function arrivalOf(
  deps: {
    readonly logins: LoginStates
    readonly handOvers: HandOvers
    readonly baseUrl: string
    readonly authUrl: string
  },
  request: AppRequest,
  callback: { readonly provider: string; readonly path: string },
): Arrival {
  const { provider, path } = callback
  const { cookie } = request.headers
  const arrived = searchOf(request.url)
  const code = new URLSearchParams(arrived).get('handover')
  return {
    handOver: isForBase(deps, { code, query: arrived, cookie })
      ? `${deps.baseUrl}${path}?handover=${deps.handOvers.make(provider, arrived)}`
      : undefined,
    open() {
      const query = code === null ? arrived : deps.handOvers.look(code, provider)
      return deps.logins.read(cookie, { provider, query })
    },
    async finish(login, reply, work) {
      try {
        const query = code === null ? arrived : await deps.handOvers.use(code, login)
        const done = await work(query)
        reply.header('Set-Cookie', [...deps.logins.endCookies(login)])
        return done
      } catch (error) {
        const refusal = error instanceof Problem ? error : undefined
        reply.header('Set-Cookie', [...deps.logins.endCookies(login, refusal)])
        throw error
      }
    },
  }
}
