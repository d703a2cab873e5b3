import { systemClock } from '../../src/clock.ts'
import { createRelyingParty, type RelyingParty } from '../../src/oidc/index.ts'

/** A relying party that may call the test providers of this machine. */
export function localRelyingParty(): RelyingParty {
  return createRelyingParty({
    fetch,
    clock: systemClock,
    allowLoopback: true,
    mintTokenId: () => 'jti',
  })
}
