import type { KeyPrincipal, SigningKeys } from '../access/index.ts'
import type { Clock } from '../clock.ts'
import { signToken } from '../secrets/index.ts'
import type { GuardedTarget } from '../targets/index.ts'

const lifetimeS = 60
// A token is reused for half its lifetime, because signing it costs more than all checks of a call together.
const reusedMs = 30_000
const maxRemembered = 10_000

/** Returns a call's Intercept-Assertion: the caller's identity, signed for the upstream and valid for at most 60 s. */
export type Assert = (principal: KeyPrincipal, target: GuardedTarget) => string | Promise<string>

/**
 * Creates the function that signs assertions (ES256 JWTs, verified with the keys at {auth_url}/.well-known/jwks.json).
 */
export function createAssert(deps: {
  signingKeys: SigningKeys
  authUrl: string
  clock: Clock
}): Assert {
  const { signingKeys, authUrl, clock } = deps
  const remembered = new Map<string, { token: string; signedAt: number }>()

  async function sign(
    name: string,
    principal: KeyPrincipal,
    target: GuardedTarget,
  ): Promise<string> {
    const nowMs = clock.now()
    const iat = Math.floor(nowMs / 1000)
    const token = await signToken(signingKeys.signer(), 'intercept-assertion+jwt', {
      iss: authUrl,
      aud: target.slug,
      sub: principal.keyId,
      organization: principal.organizationId,
      organization_slug: principal.organizationSlug,
      target: target.id,
      iat,
      exp: iat + lifetimeS,
    })
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(name, { token, signedAt: nowMs })
    return token
  }

  return (principal, target) => {
    const name = `${principal.keyId} ${target.id} ${signingKeys.signer().kid}`
    const known = remembered.get(name)
    const ageMs = known === undefined ? Infinity : clock.now() - known.signedAt
    // A negative age means that the clock was set back: the token could be valid for longer than a minute from now.
    return known !== undefined && ageMs >= 0 && ageMs < reusedMs
      ? known.token
      : sign(name, principal, target)
  }
}
