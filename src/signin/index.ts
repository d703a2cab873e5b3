/** /api/v1/auth/… : GitHub, Google, enterprise OIDC; ends in a session. */
import type { SigningKeys } from '../access/index.ts'
import type { App } from '../http/index.ts'

const jwksFreshSeconds = 300

/** Hangs the sign-in door on the app. */
export function hangSignin(app: App, needs: { signingKeys: SigningKeys }): void {
  app.get('/.well-known/jwks.json', async (_request, reply) => {
    reply.header('Cache-Control', `public, max-age=${jwksFreshSeconds}`)
    return needs.signingKeys.jwks()
  })
}
