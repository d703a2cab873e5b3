import type { Routes as Landed } from '../../../src/api/index.ts'

/** The route for signing out, which is not in the server's table of routes because it belongs to sign-in. */
interface OfSignIn {
  'POST /auth/logout': { answer: { provider_logout_url: string } | undefined }
}

/** Every route that the dashboard may call, typed by the server's table of routes. */
export type Routes = Landed & OfSignIn
