import { Problem } from '../errors.ts'
import type { ProblemCode } from '../errors.ts'

/** The checks on a provider's messages: the problem code and the sentence of each failure. */
export const faults = {
  // Reaching the provider.
  unreachable: ['idp_unreachable', 'The identity provider could not be reached.'],
  address_blocked: ['idp_unreachable', 'The identity provider has an address that is not called.'],
  timeout: ['idp_timeout', 'The identity provider did not answer in time.'],
  redirected: ['idp_answer_invalid', 'It answered with a redirect, which is not followed.'],
  status: ['idp_answer_invalid', 'It answered with an unexpected status.'],
  content_type: ['idp_answer_invalid', 'Its answer has the wrong content type.'],
  too_large: ['idp_answer_invalid', 'Its answer is too large.'],
  encoding: ['idp_answer_invalid', 'Its answer is not valid UTF-8.'],
  json: ['idp_answer_invalid', 'Its answer is not a JSON object.'],
  json_duplicate: ['idp_answer_invalid', 'Its answer names the same member twice.'],
  json_depth: ['idp_answer_invalid', 'Its answer is nested too deeply.'],

  // Discovery (OpenID Connect Discovery 1.0, sections 3 and 4.3).
  issuer_syntax: ['idp_discovery_invalid', 'The issuer must be an https address without query.'],
  issuer_mismatch: ['idp_discovery_invalid', 'The document names another issuer.'],
  endpoint_missing: ['idp_discovery_invalid', 'A required endpoint is missing.'],
  endpoint_syntax: ['idp_discovery_invalid', 'An endpoint is not an acceptable https address.'],
  member_type: ['idp_discovery_invalid', 'A member of the document has the wrong type.'],
  code_flow: ['idp_discovery_invalid', 'It does not offer the authorization code flow.'],
  pkce: ['idp_discovery_invalid', 'It does not offer PKCE with S256.'],
  algorithms: ['idp_discovery_invalid', 'It offers no signature algorithm that is accepted here.'],
  client_authentication: [
    'idp_discovery_invalid',
    'It does not offer the way in which the client proves itself.',
  ],

  // Keys (RFC 7517).
  keys_shape: ['idp_keys_invalid', 'The key set is not a list of keys.'],
  keys_too_many: ['idp_keys_invalid', 'The key set has too many keys.'],
  key_unknown: ['id_token_signature_invalid', 'No published key fits the token.'],
  key_ambiguous: ['id_token_signature_invalid', 'More than one published key fits the token.'],
  key_unusable: ['id_token_signature_invalid', 'The published key cannot be used.'],
  key_private: ['idp_keys_invalid', 'The key set publishes a private key.'],

  // Any token (RFC 7515, RFC 8725).
  token_shape: ['id_token_invalid', 'It is not a signed token in compact form.'],
  token_encrypted: ['id_token_invalid', 'It is encrypted, which was not asked for.'],
  token_size: ['id_token_invalid', 'It is too large.'],
  header: ['id_token_invalid', 'Its header cannot be read.'],
  type: ['id_token_invalid', 'Its type is not that of an id_token.'],
  critical: ['id_token_invalid', 'Its header asks for extensions that are not understood.'],
  algorithm: ['id_token_signature_invalid', 'It is signed with an algorithm that is not accepted.'],
  signature: ['id_token_signature_invalid', 'Its signature is wrong.'],
  claims: ['id_token_invalid', 'Its claims cannot be read.'],
  claim_duplicate: ['id_token_invalid', 'It names the same claim twice.'],

  // The id_token's claims (OpenID Connect Core 1.0, section 3.1.3.7).
  issuer: ['id_token_invalid', 'It was issued by somebody else.'],
  subject: ['id_token_invalid', 'Its subject is missing or malformed.'],
  audience: ['id_token_invalid', 'It was issued for another client.'],
  authorized_party: ['id_token_invalid', 'Its authorized party is another client.'],
  expiry: ['id_token_invalid', 'It has expired, or says not when it does.'],
  issued_at: ['id_token_invalid', 'It was not issued just now.'],
  not_before: ['id_token_invalid', 'It is not valid yet.'],
  nonce: ['id_token_invalid', 'It belongs to another sign-in: the nonce differs.'],
  access_token_hash: ['id_token_invalid', 'It belongs to another access token.'],
  code_hash: ['id_token_invalid', 'It belongs to another code.'],
  authentication_time: ['id_token_invalid', 'The time of authentication is missing or too old.'],

  // The token endpoint (RFC 6749, section 5).
  token_refused: ['idp_token_refused', 'It did not exchange the code.'],
  token_type: ['idp_token_invalid', 'The token type is not Bearer.'],
  access_token: ['idp_token_invalid', 'There is no access token.'],
  id_token_missing: ['idp_token_invalid', 'There is no id_token.'],
  token_member: ['idp_token_invalid', 'A member of the token answer has the wrong type.'],

  // UserInfo (OpenID Connect Core 1.0, section 5.3).
  userinfo_subject: ['idp_userinfo_invalid', 'UserInfo speaks of another subject.'],

  // The callback (RFC 6749, section 4.1.2; RFC 9207).
  parameter_duplicate: ['callback_invalid', 'A parameter arrived twice.'],
  parameter_missing: ['callback_invalid', 'The code or the state is missing.'],
  parameter_mixed: ['callback_invalid', 'The answer holds both a code and an error.'],
  parameter_unexpected: ['callback_invalid', 'The answer is not of the code flow.'],
  parameter_syntax: ['callback_invalid', 'A parameter is malformed.'],
  state: ['callback_invalid', 'The state is not the one that was sent.'],
  response_issuer: ['callback_issuer_mismatch', 'The answer comes from another issuer.'],
  response_issuer_missing: ['callback_issuer_mismatch', 'The answer does not name its issuer.'],
  refused: ['idp_refused', 'The identity provider ended the sign-in.'],

  // Logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6).
  logout_events: ['logout_token_invalid', 'It does not say that it is a logout.'],
  logout_nonce: ['logout_token_invalid', 'It holds a nonce, which a logout token must not.'],
  logout_target: ['logout_token_invalid', 'It names neither a subject nor a session.'],
  logout_id: ['logout_token_invalid', 'Its token id is missing.'],
  logout_replayed: ['logout_token_invalid', 'It was used before.'],
} as const satisfies Record<string, readonly [ProblemCode, string]>

export type Check = keyof typeof faults

/** A step of a sign-in, or the check of a logout token. */
export type Step =
  | 'discovery'
  | 'keys'
  | 'callback'
  | 'token'
  | 'id_token'
  | 'userinfo'
  | 'logout_token'

interface Found {
  readonly seen?: string | undefined
  readonly cause?: unknown
}

/** Creates the refusal for a failed check; its sentence ends with the text in `found`, which must hold no secret. */
export function fault(check: Check, step: Step, found: string | Found = {}): Problem {
  const { seen, cause } = typeof found === 'string' ? { seen: found } : found
  const [general, sentence] = faults[check]
  const code = general.startsWith('id_token') ? (tokenCodes[step] ?? general) : general
  return new Problem(
    code,
    `${stepNames[step]}: ${sentence}${seen === undefined ? '' : ` ${seen}`}`,
    {
      cause,
      members: { check, step },
    },
  )
}

/** Returns the check and step of a problem that `fault` created; undefined for any other error. */
export function faultOf(error: unknown): { check: Check; step: Step } | undefined {
  if (!(error instanceof Problem)) return undefined
  const check = error.members?.['check']
  const step = error.members?.['step']
  if (typeof check !== 'string' || !Object.hasOwn(faults, check)) return undefined
  return { check: check as Check, step: step as Step }
}

/**
 * Quotes the first 200 characters of a provider's text; all but printable ASCII becomes `?`, so that the text is safe to
 * repeat. For a value that is not a text, gives only its type.
 */
export function quoted(text: unknown): string {
  if (typeof text !== 'string') return `(${text === null ? 'null' : typeof text})`
  return `«${text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200)}»`
}

// All signed tokens share the same checks; the problem code tells which token failed.
const tokenCodes: Readonly<Partial<Record<Step, ProblemCode>>> = {
  userinfo: 'idp_userinfo_invalid',
  logout_token: 'logout_token_invalid',
}

const stepNames: Readonly<Record<Step, string>> = {
  discovery: 'Discovery',
  keys: 'Keys',
  callback: 'Answer',
  token: 'Token',
  id_token: 'id_token',
  userinfo: 'UserInfo',
  logout_token: 'Logout token',
}
