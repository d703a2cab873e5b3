import { Problem } from '../../errors.ts'
import { Type } from '../../http/index.ts'
import type { Services } from '../core/services.ts'
import { route } from '../core/route.ts'
import { input } from '../core/schemas.ts'

/** Lets anyone who found a leaked secret revoke it. */
export const credentialRoutes = {
  'POST /credentials/revoke': route({
    summary: 'Revoke a leaked API key, SCIM token or access token by presenting it',
    permission: 'anyone',
    anyOrigin: true,
    status: 200,
    body: input({ secret: Type.String({ minLength: 1, maxLength: 300 }) }),
    answer: Type.Object({ received: Type.Boolean() }),
    handle: async ({ body, actor, address, requestId }, services) => {
      await spendFinding(address, services)
      await services.keys.revokeLeaked(body.secret, { address, requestId })
      await services.directories.tokens.revokeSecret(body.secret, actor)
      await services.accessTokens.revokeSecret(body.secret, actor)
      // The response is the same for every secret, so a finder does not learn which ones still work.
      return { received: true }
    },
  }),
}

/**
 * Counts a report against the limit on wrong access tokens of the address that sent it; throws `rate_limited` (429)
 * over the limit.
 */
async function spendFinding(address: string, { findings }: Services): Promise<void> {
  const retrySeconds = await findings.failed(address)
  if (retrySeconds === undefined) return
  throw new Problem(
    'rate_limited',
    'Too many found secrets came from your address. Go on shortly.',
    {
      headers: { 'Retry-After': String(retrySeconds) },
    },
  )
}
