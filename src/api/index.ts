/** The JSON API at /api/v1/… for the dashboard and for programs, with its OpenAPI description and reference page. */
import { schemaDocument } from '../configuration/index.ts'
import { Problem } from '../errors.ts'
import type { App, AppRequest } from '../http/index.ts'
import { describeRoutes } from './description/openapi.ts'
import { referenceStyle, renderReference } from './description/reference.ts'
import { registerRoutes } from './register.ts'
import type { Services } from './core/services.ts'
import { routes } from './routes.ts'

export type { Services } from './core/services.ts'
export type { Routes } from './routes.ts'

const prefix = '/api/v1'
const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export function registerApi(
  app: App,
  deps: {
    readonly services: Services
    readonly version: string
    readonly addressOf: (request: AppRequest) => string
  },
): void {
  const { services } = deps
  registerRoutes(app, routes, { prefix, services, addressOf: deps.addressOf })
  const { baseUrl } = services
  // Built on first use, because the text is long and rarely asked for.
  const description = onceAsked(() =>
    JSON.stringify(describeRoutes(routes, { baseUrl, version: deps.version })),
  )
  const reference = onceAsked(() => renderReference(routes, baseUrl))
  app.get(`${prefix}/openapi.json`, async (_request, reply) =>
    reply.type('application/json').header('Cache-Control', 'no-cache').send(description()),
  )
  app.get('/schemas/organization.json', async (_request, reply) =>
    reply
      .type('application/schema+json')
      .header('Cache-Control', 'no-cache')
      .send(JSON.stringify(schemaDocument(), null, 2)),
  )
  app.get('/docs/api', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', contentSecurityPolicy)
      .header('Referrer-Policy', 'no-referrer')
      .header('Cross-Origin-Opener-Policy', 'same-origin')
      .send(reference()),
  )
  app.get('/docs/api.css', async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('Cache-Control', 'no-cache').send(referenceStyle),
  )
  // An unknown path below /api/v1 gets a 404 in JSON, not a page.
  app.all(`${prefix}/*`, async () => {
    throw new Problem('not_found')
  })
}

function onceAsked(render: () => string): () => string {
  let text: string | undefined
  return () => (text ??= render())
}
