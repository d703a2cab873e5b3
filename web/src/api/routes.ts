import type { Routes as Landed } from '../../../src/api/index.ts'

/** Signing out belongs to sign-in, which has no table of routes. */
interface OfSignIn {
  'POST /auth/logout': { answer: { provider_logout_url: string } | undefined }
}

/** Every route that the dashboard may call: the server's own table, as types. */
export type Routes = Landed & OfSignIn
