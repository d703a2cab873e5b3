import type { Sealer } from '../secrets/index.ts'
import { dayMs } from '../units.ts'
import type { ConnectionId } from '../store/index.ts'

/** The addresses to register at a provider; each connection has its own. */
export interface ConnectionAddresses {
  readonly redirectUri: string
  /** Where the provider may start a sign-in (OpenID Connect Core 1.0, section 4). */
  readonly initiateLoginUri: string
  readonly backchannelLogoutUri: string
  /** Where the provider reads the public key of private_key_jwt. */
  readonly clientKeysUri: string
}

const reservedForMs = 7 * dayMs

export function addressesOf(authUrl: string, id: ConnectionId): ConnectionAddresses {
  const base = `${authUrl}/api/v1/auth/sso/${id}`
  return {
    redirectUri: `${base}/callback`,
    initiateLoginUri: `${base}/login`,
    backchannelLogoutUri: `${base}/logout`,
    clientKeysUri: `${base}/keys`,
  }
}

/**
 * Seals the id of a future connection for one organization, so that nobody can choose an id or take over an old one.
 */
export function sealReservation(
  sealer: Sealer,
  organizationId: string,
  reserved: { id: ConnectionId; at: number },
): string {
  const text = sealer.seal(JSON.stringify(reserved), contextOf(organizationId))
  return Buffer.from(text).toString('base64url')
}

/** Returns the id in a reservation; undefined if it is invalid, a week old, or made for another organization. */
export function openReservation(
  sealer: Sealer,
  organizationId: string,
  { reservation, nowMs }: { reservation: string; nowMs: number },
): ConnectionId | undefined {
  try {
    const text = Buffer.from(reservation, 'base64url').toString()
    const found = JSON.parse(sealer.open(text, contextOf(organizationId))) as {
      id: ConnectionId
      at: number
    }
    return nowMs - found.at < reservedForMs ? found.id : undefined
  } catch {
    return undefined
  }
}

function contextOf(organizationId: string): readonly string[] {
  return [organizationId, 'connection', 'reservation']
}
