/** Sign-in in the browser: through GitHub, Google or an organization's provider, or by a sign-in link. */
import type { SharedRates, SigningKeys } from '../access/index.ts'
import { Problem } from '../errors.ts'
import { watchMethods, type App, type AppRequest } from '../http/index.ts'
import { organizations } from '../store/index.ts'
import type { Rate } from '../rate.ts'
import { createCallbackLimit } from './callback-limit.ts'
import {
  finishSignIn,
  land,
  logOut,
  only,
  sendPage,
  showSignInLink,
  startSignIn,
  useSignInLink,
} from './routes.ts'
import { createHandOvers } from './hand-over.ts'
import { pageFiles, refusalPage, type WayOn } from './pages.ts'
import { registerSso, type SsoDeps } from './sso-routes.ts'
import { createLoginStates } from './login-state.ts'

export { openProviders } from './built-in.ts'

const jwksFreshSeconds = 300
const builtIn = ['github', 'google'] as const
const maxFormLength = 16 * 1024

type SignInDependencies = Omit<SsoDeps, 'logins' | 'handOvers' | 'callbackLimit' | 'linking'> & {
  /** How many sign-ins from one source address may fail; undefined means no limit. */
  readonly failures: Rate | undefined
  /** Shares the counts with the other nodes, so that all of them enforce one limit. */
  readonly rates?: SharedRates | undefined
  readonly signingKeys: SigningKeys
  /** Converts errors of lower layers, such as an unreachable database, into a problem; undefined for other errors. */
  readonly translate: (error: unknown) => Problem | undefined
  readonly log: { error(fields: object, text: string): void }
  /**
   * Counts a request that was refused because the database is unreachable, so that an outage is logged once rather than
   * per request.
   */
  readonly refusedByStorage: (cause: unknown) => void
}

/** Registers sign-in: the providers' redirects, links, pages and our public signing keys. */
export function registerSignin(app: App, deps: SignInDependencies): void {
  app.get('/.well-known/jwks.json', async (_request, reply) => {
    reply.header('Cache-Control', `public, max-age=${jwksFreshSeconds}`)
    return deps.signingKeys.jwks()
  })
  for (const { path, type, text } of pageFiles) {
    app.get(path, async (_request, reply) => await reply.type(type).send(text))
  }
  // These routes have a scope of their own, in which refusals are rendered as pages and form bodies are parsed.
  void app.register(async (scope) => {
    const linking = new WeakSet<AppRequest>()
    refuseWithPages(scope, { ...deps, linking })
    readForms(scope)
    registerRoutes(scope, {
      ...deps,
      linking,
      logins: createLoginStates(deps),
      handOvers: createHandOvers(deps),
      callbackLimit: createCallbackLimit(deps),
    })
  })
}

function refuseWithPages(
  scope: App,
  deps: Pick<SignInDependencies, 'translate' | 'log' | 'refusedByStorage' | 'sso' | 'store'> &
    Pick<SsoDeps, 'linking'>,
): void {
  scope.setErrorHandler(async (error, request, reply) => {
    const known = deps.translate(error)
    const problem = error instanceof Problem ? error : (known ?? asProblem(error))
    if (problem.code === 'storage_unavailable') deps.refusedByStorage(error)
    else if (problem.status >= 500) {
      deps.log.error({ err: error, request_id: request.id }, 'a sign-in failed')
    }
    return await sendPage(reply, refusalPage(problem, request.id, await wayOn(deps, request)))
  })
}

function readForms(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxFormLength },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  )
  scope.addContentTypeParser('application/json', (_request, payload, done) => {
    payload.resume()
    done(null, undefined)
  })
}

function registerRoutes(scope: App, deps: SsoDeps): void {
  const refuseOtherMethods = watchMethods(scope)
  for (const name of builtIn) {
    const path = `/api/v1/auth/${name}`
    only(scope, `GET ${path}/login`, (...ends) => startSignIn({ deps, name }, ...ends))
    only(scope, `GET ${path}/callback`, (...ends) => finishSignIn({ deps, name }, ...ends))
  }
  registerSso(scope, deps)
  only(scope, 'GET /api/v1/auth/landed', (...ends) => land(deps, ...ends))
  only(scope, 'POST /api/v1/auth/logout', (...ends) => logOut(deps, ...ends))
  scope.get('/sign-in-link', async (...ends) => await showSignInLink(...ends))
  scope.post('/sign-in-link', async (...ends) => await useSignInLink(deps, ...ends))
  refuseOtherMethods()
}

/** Finds where a refused sign-in can be restarted, and its organization. */
async function wayOn(
  deps: Pick<SsoDeps, 'sso' | 'store' | 'linking'>,
  request: AppRequest,
): Promise<WayOn> {
  const [path = '', query] = request.url.split('?')
  const callback = /^(\/api\/v1\/auth\/(?:github|google|sso\/(con_\w+)))\/(?:callback|login)$/.exec(
    path,
  )
  if (callback === null) {
    const isLogin = path === '/api/v1/auth/sso/login' && query !== undefined
    return { retry: isLogin ? request.url : undefined, organization: undefined }
  }
  const [, start = '', id] = callback
  // If the organization can't be found, the page explains the refusal without it.
  const organization =
    id === undefined ? undefined : await organizationOf(deps, id).catch(() => undefined)
  const retry = deps.linking.has(request) ? '/login?link=1&return_to=/you' : '/login'
  return { retry: start + retry, organization }
}

async function organizationOf(
  { sso, store }: Pick<SsoDeps, 'sso' | 'store'>,
  connectionId: string,
): Promise<string | undefined> {
  const connection = await sso.connections.findForSignIn(connectionId)
  return connection && (await organizations.find(store, connection.organizationId))?.name
}

function asProblem(error: unknown): Problem {
  const { statusCode } = error as { statusCode?: number }
  return statusCode === undefined || statusCode >= 500
    ? new Problem('internal_error', undefined, { cause: error })
    : new Problem('bad_request', undefined, { cause: error })
}
