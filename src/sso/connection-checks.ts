import { Problem } from '../errors.ts'
import type { ConnectionKind } from './connection-settings.ts'

const maxNameLength = 100

/** The kind that an issuer's address gives away. */
export function kindOf(issuer: string): ConnectionKind {
  const host = URL.canParse(issuer) ? new URL(issuer).hostname : ''
  if (/\.(okta|oktapreview|okta-emea)\.com$/.test(host)) return 'okta'
  if (/^(login\.microsoftonline\.(com|us)|sts\.windows\.net)$/.test(host)) return 'entra'
  return host === 'accounts.google.com' ? 'google' : 'other'
}

/** Issuer and client id as they are kept; `invalid_input`. */
export function checkClient(wish: { issuer: string; clientId: string }) {
  const issuer = wish.issuer.trim()
  const clientId = wish.clientId.trim()
  // VSCHAR of RFC 6749, appendix A.1.
  if (!/^[\x20-\x7e]{1,512}$/.test(clientId)) {
    throw new Problem('invalid_input', 'A client id has 1 to 512 printable ASCII characters.')
  }
  return { issuer, clientId }
}

/** Refuses a client secret that cannot be sent as it is: `invalid_input`. */
export function checkSecret(secret: string): void {
  if (!/^[\x20-\x7e]{1,1024}$/.test(secret)) {
    throw new Problem('invalid_input', 'A client secret has 1 to 1024 printable ASCII characters.')
  }
}

/** The name of a connection, or the provider's host; `invalid_input`. */
export function nameFor(wish: string | undefined, issuer: string): string {
  const name = (wish ?? new URL(issuer).hostname).trim()
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
