import type { Routes as Landed } from '../../../src/api/index.ts'

/** The route for signing out. The server registers it with the routes for signing in, not in its table of routes. */
interface OfSignIn {
  'POST /auth/logout': { answer: { provider_logout_url: string } | undefined }
}

/** Every route that the dashboard may call, typed by the server's table of routes. */
export type Routes = Landed & OfSignIn
