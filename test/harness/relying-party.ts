import { systemClock } from '../../src/clock.ts'
import { createRelyingParty, type RelyingParty } from '../../src/oidc/index.ts'

/** Creates a relying party that may call test providers on this machine. */
export function localRelyingParty(): RelyingParty {
  return createRelyingParty({
    fetch,
    clock: systemClock,
    allowLoopback: true,
    mintTokenId: () => 'jti',
  })
}
