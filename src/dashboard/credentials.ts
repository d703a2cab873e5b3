import { Type } from '../http/index.ts'
import { route } from './route.ts'
import { input } from './shapes.ts'

/** Whoever holds a leaked secret can kill it. */
export const credentialRoutes = {
  'POST /credentials/revoke': route({
    summary: 'Revoke a leaked API key by presenting it',
    permission: 'anyone',
    anyOrigin: true,
    status: 200,
    body: input({ secret: Type.String({ minLength: 1, maxLength: 300 }) }),
    answer: Type.Object({ received: Type.Boolean() }),
    handle: async ({ body, address, requestId }, rooms) => {
      await rooms.keys.revokeLeaked(body.secret, { address, requestId })
      // The same answer for every secret: it tells a finder nothing about what is still alive.
      return { received: true }
    },
  }),
}
