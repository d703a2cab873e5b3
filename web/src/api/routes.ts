import type { Routes as Landed } from '../../../src/api/index.ts'

/** Signing out belongs to sign-in, which is not in the table of routes. */
interface OfSignIn {
  'POST /auth/logout': { answer: { provider_logout_url: string } | undefined }
}

/** Every route that the dashboard may call, typed by the server's own table. */
export type Routes = Landed & OfSignIn
