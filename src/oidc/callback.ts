import { fault, quoted } from './faults.ts'
import type { Provider } from './discovery.ts'

/** A provider's redirect that was verified to belong to one sign-in. */
export interface CallbackAnswer {
  readonly code: string
}

const known = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri'] as const
const foreign = ['id_token', 'access_token', 'token_type', 'response'] as const
const maxLength = 8_192

/** Verifies the redirect's parameters before anything is sent to the token endpoint (RFC 6749, 4.1.2; RFC 9207). */
export function readCallback(
  query: string,
  expected: { state: string; provider: Pick<Provider, 'issuer' | 'namesItself'> },
): CallbackAnswer {
  const parameters = readState(query, expected.state)
  checkIssuer(parameters.get('iss'), expected.provider)
  return { code: codeOf(parameters) }
}

/** Parses a redirect's parameters; throws unless they are well-formed and carry this state. */
export function readState(query: string, state: string): URLSearchParams {
  if (query.length > maxLength) throw fault('parameter_syntax', 'callback')
  const parameters = new URLSearchParams(query)
  for (const name of known) {
    if (parameters.getAll(name).length > 1)
      throw fault('parameter_duplicate', 'callback', `It is ${name}.`)
    // Refuses a PHP-style list such as `code[]`, which another parser would read as the parameter itself.
    if ([...parameters.keys()].some((key) => key.startsWith(`${name}[`))) {
      throw fault('parameter_syntax', 'callback')
    }
  }
  if (foreign.some((name) => parameters.has(name))) throw fault('parameter_unexpected', 'callback')
  if (parameters.get('state') === null) throw fault('parameter_missing', 'callback')
  if (parameters.get('state') !== state) throw fault('state', 'callback')
  return parameters
}

function checkIssuer(
  issuer: string | null,
  provider: Pick<Provider, 'issuer' | 'namesItself'>,
): void {
  if (issuer === null) {
    if (provider.namesItself) throw fault('response_issuer_missing', 'callback')
    return
  }
  if (issuer !== provider.issuer)
    throw fault('response_issuer', 'callback', `It says ${quoted(issuer)}.`)
}

function codeOf(parameters: URLSearchParams): string {
  const code = parameters.get('code')
  const error = parameters.get('error')
  if (error !== null) {
    if (code !== null) throw fault('parameter_mixed', 'callback')
    const description = parameters.get('error_description')
    throw fault(
      'refused',
      'callback',
      `It said ${quoted(error)}${description === null ? '' : `: ${quoted(description)}`}.`,
    )
  }
  if (code === null || code === '') throw fault('parameter_missing', 'callback')
  // VSCHAR as defined in RFC 6749, appendix A.11.
  if (!/^[\x20-\x7e]{1,4096}$/.test(code)) throw fault('parameter_syntax', 'callback')
  return code
}
