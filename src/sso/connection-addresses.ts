import type { Sealer } from '../secrets/index.ts'
import type { ConnectionId } from '../store/index.ts'

/** The addresses that a provider must know; each connection has its own. */
export interface ConnectionAddresses {
  readonly redirectUri: string
  /** Where the provider may start a sign-in. */
  readonly initiateLoginUri: string
  readonly backchannelLogoutUri: string
  /** Where the provider reads the public key of private_key_jwt. */
  readonly clientKeysUri: string
}

const reservedForMs = 7 * 24 * 3_600_000

/** The addresses of a connection, at the identity address. */
export function addressesOf(authUrl: string, id: ConnectionId): ConnectionAddresses {
  const base = `${authUrl}/api/v1/auth/sso/${id}`
  return {
    redirectUri: `${base}/callback`,
    initiateLoginUri: `${base}/login`,
    backchannelLogoutUri: `${base}/logout`,
    clientKeysUri: `${base}/keys`,
  }
}

/** An id for a connection to come, sealed for one organization: nobody can choose an id, or take over an old one. */
export function sealReservation(
  sealer: Sealer,
  organizationId: string,
  reserved: { id: ConnectionId; at: number },
): string {
  const text = sealer.seal(JSON.stringify(reserved), contextOf(organizationId))
  return Buffer.from(text).toString('base64url')
}

/** The id behind a reservation of this organization, for a week. */
export function openReservation(
  sealer: Sealer,
  organizationId: string,
  wish: { reservation: string; nowMs: number },
): ConnectionId | undefined {
  try {
    const text = Buffer.from(wish.reservation, 'base64url').toString()
    const found = JSON.parse(sealer.open(text, contextOf(organizationId))) as {
      id: ConnectionId
      at: number
    }
    return wish.nowMs - found.at < reservedForMs ? found.id : undefined
  } catch {
    return undefined
  }
}

function contextOf(organizationId: string): readonly string[] {
  return [organizationId, 'connection', 'reservation']
}
