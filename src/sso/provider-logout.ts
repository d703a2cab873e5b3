import type { RelyingParty } from '../oidc/index.ts'
import type { Sealer } from '../secrets/index.ts'
import { providerSessions, type Store } from '../store/index.ts'
import type { Connections } from './connections.ts'

// Bounds the id_token_hint: it is sent in a URL, and browsers and providers accept URLs of about 8 KiB.
const maxHint = 6_000

/** Signs people out at their provider too, if the connection's settings ask for it. */
export interface ProviderLogout {
  /** Seals the id_token for storage with its session; undefined if there is none or it is too long for a URL. */
  keep(connectionId: string, sessionId: string, idToken: string | undefined): string | undefined
  /**
   * Returns where to send a browser to end its session at the provider (RP-Initiated Logout 1.0, section 2). Undefined
   * if the connection does not ask for that, or the provider does not support it or cannot be reached.
   */
  addressFor(session: { sessionId: string; connectionId: string }): Promise<string | undefined>
}

export function createProviderLogout(deps: {
  readonly store: Store
  readonly sealer: Sealer
  readonly relyingParty: RelyingParty
  readonly connections: Pick<Connections, 'findForSignIn'>
  /**
   * The provider sends the browser back to `/sign-in` below this URL, so that address must be registered at the
   * provider.
   */
  readonly baseUrl: string
}): ProviderLogout {
  const { store, sealer, connections } = deps
  return {
    keep: (connectionId, sessionId, idToken) =>
      idToken === undefined || idToken.length > maxHint
        ? undefined
        : sealer.seal(idToken, contextOf(connectionId, sessionId)),
    async addressFor({ sessionId, connectionId }) {
      const connection = await connections.findForSignIn(connectionId)
      if (connection?.settings.endsProviderSession !== true) return undefined
      // The session here has ended already, so an unreachable provider is no reason to fail.
      const provider = await deps.relyingParty.provider(connection.issuer).catch(() => undefined)
      if (provider?.endSessionEndpoint === undefined) return undefined
      const kept = await providerSessions.findIdToken(store, sessionId)
      const address = new URL(provider.endSessionEndpoint)
      if (kept !== undefined) {
        const hint = sealer.open(kept, contextOf(connectionId, sessionId))
        address.searchParams.set('id_token_hint', hint)
      }
      address.searchParams.set('client_id', connection.clientId)
      address.searchParams.set('post_logout_redirect_uri', `${deps.baseUrl}/sign-in`)
      return address.href
    },
  }
}

function contextOf(connectionId: string, sessionId: string): readonly string[] {
  return [connectionId, sessionId, 'id_token']
}
