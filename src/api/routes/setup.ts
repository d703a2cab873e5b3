import { sessionCookies } from '../../access/index.ts'
import { Type } from '../../http/index.ts'
import { Answered, route } from '../core/route.ts'
import { input } from '../core/schemas.ts'

const Token = Type.String({ minLength: 20, maxLength: 100 })

/** The options of the sign-in page, and first-time setup through a link. */
export const setupRoutes = {
  'GET /sign-in-options': route({
    summary: 'The configured ways to sign in',
    permission: 'anyone',
    answer: Type.Object({
      providers: Type.Array(Type.String()),
      sign_up: Type.String(),
      base_url: Type.String(),
    }),
    handle: async (_request, services) => ({
      providers: [...services.providers],
      sign_up: services.signUp,
      base_url: services.baseUrl,
    }),
  }),

  'POST /setup/look': route({
    summary: 'Whether a setup link still works',
    permission: 'anyone',
    status: 200,
    body: input({ token: Token }),
    answer: Type.Object({ open: Type.Boolean() }),
    handle: async ({ body }, services) => ({ open: await services.links.isSetupOpen(body.token) }),
  }),

  'POST /setup': route({
    summary: 'Create the first owner and organization with the setup link, and sign in',
    permission: 'anyone',
    status: 201,
    body: input({
      token: Token,
      name: Type.String({ minLength: 1, maxLength: 100 }),
      email: Type.String({ minLength: 3, maxLength: 254 }),
      organization: input({
        slug: Type.String({ minLength: 1, maxLength: 40 }),
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
        /**
         * Whether an organization that already has this slug (created on the command line) may be used; otherwise a
         * taken slug is refused.
         */
        existing: Type.Optional(Type.Boolean()),
      }),
    }),
    answer: Type.Object({
      user_id: Type.String(),
      organization: Type.Object({ id: Type.String(), slug: Type.String() }),
    }),
    handle: async ({ body, actor, address, agent }, services) => {
      const { user, organization } = await services.links.setUp(body.token, body, actor)
      const started = await services.sessions.start({
        userId: user.id,
        provider: 'setup',
        address,
        agent,
      })
      const { id, slug } = organization
      return new Answered(
        { user_id: user.id, organization: { id, slug } },
        { 'Set-Cookie': sessionCookies(started) },
      )
    },
  }),
}
