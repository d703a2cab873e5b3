import type { ProblemCode } from '../../errors.ts'

/** The keywords of RFC 7644 table 9 and RFC 9865 section 2.1. */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidVers'
  | 'sensitive'
  | 'invalidCursor'
  | 'expiredCursor'
  | 'invalidCount'

/** The statuses of SCIM's own refusals, each with our code that has the same status. */
export const codesOfStatus = {
  400: 'invalid_input',
  401: 'credential_missing',
  403: 'filter_refused',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  412: 'version_conflict',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  501: 'not_supported',
} as const satisfies Readonly<Record<number, ProblemCode>>

type ScimStatus = keyof typeof codesOfStatus

/** A refusal in SCIM's terms; its message is public. */
export class ScimError extends Error {
  readonly status: ScimStatus
  readonly scimType: ScimType | undefined
  /** Response headers such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: ScimStatus,
    detail: string,
    more: { scimType?: ScimType; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail)
    this.name = 'ScimError'
    this.status = status
    this.scimType = more.scimType
    this.headers = more.headers ?? {}
  }
}

/** Creates a 400 with its SCIM keyword. */
export function refuse(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, detail, { scimType })
}

export function tooMany(retrySeconds: number): ScimError {
  const headers = { 'Retry-After': String(retrySeconds) }
  return new ScimError(429, 'Too many requests. Try again shortly.', { headers })
}

/** Builds the body of a refusal: only the members of RFC 7644 section 3.12, with the status as a string. */
export function errorBody(
  status: number,
  scimType: ScimType | undefined,
  detail: string,
): Record<string, unknown> {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    ...(scimType === undefined ? {} : { scimType }),
    detail,
    status: String(status),
  }
}
