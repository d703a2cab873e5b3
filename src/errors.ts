/** Every refusal of the service: its code, HTTP status and title. Each has a page in docs/problems. */
export const problems = {
  // Refusals of the HTTP request itself.
  bad_request: { status: 400, title: 'The request could not be understood' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'This address does not answer that method' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  head_too_large: { status: 431, title: 'The request head is too large' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'This content type is not understood here' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  expectation_failed: { status: 417, title: 'The expectation cannot be met' },
  framing_invalid: { status: 400, title: 'The message framing is ambiguous' },
  version_not_supported: { status: 505, title: 'This HTTP version is not spoken here' },
  transfer_encoding_unsupported: { status: 501, title: 'This transfer encoding is not supported' },
  host_invalid: { status: 400, title: 'The Host header is missing, doubled or wrong' },

  // Refusals of guarded calls, roughly in the order of the checks. The first and the last code belong to
  // administration.
  person_required: { status: 403, title: 'This belongs to a person' },
  credential_missing: { status: 401, title: 'No API key was sent' },
  credential_invalid: { status: 401, title: 'The API key is not valid' },
  credential_wrong_header: { status: 401, title: 'The API key came in the wrong header' },
  credential_ambiguous: { status: 400, title: 'More than one credential was sent' },
  credential_revoked: { status: 401, title: 'The API key was revoked' },
  credential_expired: { status: 401, title: 'The API key has expired' },
  credential_unverifiable: { status: 503, title: 'The API key cannot be verified at the moment' },
  address_not_allowed: { status: 403, title: 'The API key may not be used from this address' },
  browser_origin_refused: { status: 403, title: 'API keys do not belong in a browser page' },
  target_not_found: { status: 404, title: 'There is no such target for this key' },
  target_disabled: { status: 403, title: 'The target is disabled' },
  rule_denied: { status: 403, title: 'A rule of the target refuses this call' },
  path_ambiguous: { status: 400, title: 'The path can be read in more than one way' },
  rate_limited: { status: 429, title: 'Too many calls' },
  quota_exhausted: { status: 429, title: 'The quota is used up' },
  upstream_unreachable: { status: 502, title: 'The upstream could not be reached' },
  upstream_invalid: { status: 502, title: 'The upstream gave a broken answer' },
  upstream_timeout: { status: 504, title: 'The upstream took too long' },
  outbound_blocked: { status: 400, title: 'This address must not be called' },

  // Failures of an organization's identity provider, and faults in its messages (`check` names the exact fault).
  idp_unreachable: { status: 502, title: 'The identity provider could not be reached' },
  idp_timeout: { status: 504, title: 'The identity provider took too long' },
  idp_answer_invalid: { status: 502, title: 'The identity provider gave a broken answer' },
  idp_discovery_invalid: { status: 502, title: 'The discovery document is not acceptable' },
  idp_keys_invalid: { status: 502, title: 'The published keys are not acceptable' },
  idp_token_refused: { status: 502, title: 'The identity provider did not exchange the code' },
  idp_token_invalid: { status: 502, title: 'The token answer is not acceptable' },
  idp_userinfo_invalid: { status: 502, title: 'The UserInfo answer is not acceptable' },
  idp_refused: { status: 403, title: 'The identity provider ended the sign-in' },
  id_token_invalid: { status: 403, title: 'The id_token is not valid for this sign-in' },
  id_token_signature_invalid: { status: 403, title: 'The id_token is not signed by its issuer' },
  callback_invalid: { status: 400, title: 'This is not the answer to a sign-in' },
  callback_issuer_mismatch: { status: 400, title: 'The answer comes from another provider' },
  logout_token_invalid: { status: 400, title: 'The logout token is not valid' },

  // Refusals of company sign-in and of its setup.
  sso_not_available: { status: 404, title: 'There is no company sign-in here' },
  sso_connection_disabled: { status: 403, title: 'The connection to the identity provider is off' },
  sso_email_missing: { status: 403, title: 'The identity provider named no usable e-mail address' },
  sso_email_unverified: { status: 403, title: 'The e-mail address is not verified' },
  sso_domain_mismatch: { status: 403, title: 'The e-mail address is not of a verified domain' },
  sso_group_missing: { status: 403, title: 'The required group is missing' },
  sso_not_admitted: { status: 403, title: 'You are not a member of this organization' },
  sso_membership_ended: { status: 403, title: 'Your membership has ended' },
  sso_confirmation_required: { status: 403, title: 'Confirm with your existing sign-in first' },
  sso_required: { status: 403, title: 'This organization requires its company sign-in' },
  own_sign_in_required: { status: 403, title: 'This needs a sign-in of your own' },
  break_glass_missing: { status: 409, title: 'Nobody could get in if the provider fails' },
  domain_invalid: { status: 400, title: 'This is not a domain name' },
  domain_public: { status: 400, title: 'This domain gives addresses to anybody' },
  domain_taken: { status: 409, title: 'Another organization has verified this domain' },
  // People: sessions, sign-in, membership.
  session_missing: { status: 401, title: 'Nobody is signed in here' },
  session_invalid: { status: 401, title: 'The session is not valid' },
  session_ended: { status: 401, title: 'The session has ended' },
  cross_origin_refused: { status: 403, title: 'The request did not come from our own pages' },
  permission_required: { status: 403, title: 'Your role does not include this' },
  sign_in_too_old: { status: 403, title: 'This needs a sign-in younger than one hour' },
  provider_not_configured: { status: 404, title: 'This way of signing in is not set up' },
  sign_in_refused: { status: 403, title: 'This sign-in leads nowhere here' },
  email_not_verified: { status: 403, title: 'The provider has not verified the e-mail address' },
  account_exists: { status: 403, title: 'There is an account with this e-mail address already' },
  identity_taken: { status: 409, title: 'This identity belongs to another account' },
  link_invalid: { status: 400, title: 'The link is not valid any more' },
  invitation_invalid: { status: 400, title: 'The invitation is not valid any more' },
  invitation_for_other: { status: 403, title: 'The invitation is for another e-mail address' },
  last_connection: { status: 409, title: 'A required company sign-in keeps a connection' },
  last_owner: { status: 409, title: 'An organization keeps at least one owner' },
  idempotency_conflict: { status: 409, title: 'The Idempotency-Key was used for something else' },

  // Administration.
  invalid_input: { status: 400, title: 'Some of the values are not acceptable' },
  conflict: { status: 409, title: 'This does not fit what is there already' },
  managed_by_file: { status: 409, title: 'A configuration file manages this' },
  version_conflict: { status: 412, title: 'Somebody else changed this in the meantime' },
  filter_refused: { status: 403, title: 'This list cannot be filtered' },
  not_supported: { status: 501, title: 'This is not supported here' },
  plan_required: { status: 403, title: 'The plan does not include this' },
  storage_unavailable: { status: 503, title: 'The database does not answer' },
  internal_error: { status: 500, title: 'Something went wrong here' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

/** A refusal: `detail` is public; `cause` is for the log only. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly members: Readonly<Record<string, unknown>> | undefined

  constructor(
    code: ProblemCode,
    detail: string = problems[code].title,
    more: {
      cause?: unknown
      /** Additional response headers, such as Retry-After. */
      headers?: Readonly<Record<string, string>>
      /** Additional members of the problem document (RFC 9457, section 3.2). */
      members?: Readonly<Record<string, unknown>>
    } = {},
  ) {
    // A refusal is a normal result, and capturing its stack would cost more than creating it.
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 0
    super(detail, more.cause === undefined ? undefined : { cause: more.cause })
    Error.stackTraceLimit = limit
    this.name = 'Problem'
    this.code = code
    this.headers = more.headers
    this.members = more.members
  }

  get status(): number {
    return problems[this.code].status
  }
}
