import { Problem } from '../errors.ts'
import type { Client } from '../oidc/index.ts'
import { mintClientKey, type Sealer } from '../secrets/index.ts'
import type { ConnectionRecord } from '../store/index.ts'
import type { ConnectionKind } from './connection-settings.ts'

const maxNameLength = 100

/** Guesses the kind of provider from its issuer's host. */
export function kindOf(issuer: string): ConnectionKind {
  const host = URL.canParse(issuer) ? new URL(issuer).hostname : ''
  if (/\.(okta|oktapreview|okta-emea)\.com$/.test(host)) return 'okta'
  if (/^(login\.microsoftonline\.(com|us)|sts\.windows\.net)$/.test(host)) return 'entra'
  return host === 'accounts.google.com' ? 'google' : 'other'
}

/** Trims issuer and client id, and checks the client id. Throws `invalid_input`. */
export function checkClient(input: { issuer: string; clientId: string }) {
  const issuer = input.issuer.trim()
  const clientId = input.clientId.trim()
  // A client id consists of VSCHAR characters (RFC 6749, appendix A.1).
  if (!/^[\x20-\x7e]{1,512}$/.test(clientId)) {
    throw new Problem('invalid_input', 'A client id has 1 to 512 printable ASCII characters.')
  }
  return { issuer, clientId }
}

/** Returns the name to save a connection under; defaults to the provider's host. Throws `invalid_input`. */
export function nameFor(asked: string | undefined, issuer: string): string {
  const name = (asked ?? new URL(issuer).hostname).trim()
  if (
    name === '' ||
    name.length > maxNameLength ||
    !name.isWellFormed() ||
    name.includes('\u0000')
  ) {
    throw new Problem('invalid_input', `A connection's name has 1 to ${maxNameLength} characters.`)
  }
  return name
}

/** How a connection authenticates to its provider: with a secret from the provider, or with a key generated here. */
export type CredentialInput =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'key' }

/**
 * Seals the credential for the connection's row. Throws `invalid_input` for a secret that could not be sent unchanged.
 */
export async function sealCredential(
  sealer: Sealer,
  owner: Pick<ConnectionRecord, 'organizationId' | 'id'>,
  input: CredentialInput,
): Promise<Pick<ConnectionRecord, 'credentialKind' | 'credentialSealed' | 'publicJwk'>> {
  const context = contextOf(owner)
  if (input.kind === 'secret') {
    checkSecret(input.secret)
    const credentialSealed = sealer.seal(input.secret, context)
    return { credentialKind: 'secret', credentialSealed, publicJwk: undefined }
  }
  const { privateJwk, publicJwk } = await mintClientKey(owner.id)
  return {
    credentialKind: 'key',
    credentialSealed: sealer.seal(JSON.stringify(privateJwk), context),
    publicJwk: JSON.stringify(publicJwk),
  }
}

export function openCredential(sealer: Sealer, row: ConnectionRecord): Client['credential'] {
  const opened = sealer.open(row.credentialSealed, contextOf(row))
  return row.credentialKind === 'secret'
    ? { kind: 'secret', secret: opened }
    : { kind: 'key', privateJwk: JSON.parse(opened) as Record<string, unknown> }
}

function checkSecret(secret: string): void {
  if (!/^[\x20-\x7e]{1,1024}$/.test(secret)) {
    throw new Problem('invalid_input', 'A client secret has 1 to 1024 printable ASCII characters.')
  }
}

/** Returns the context that binds a sealed credential to its connection, so that it can't be opened in another row. */
function contextOf({ organizationId, id }: Pick<ConnectionRecord, 'organizationId' | 'id'>) {
  return [organizationId, id, 'credential']
}
