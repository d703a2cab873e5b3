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

/** A refusal of the SCIM door; the message is public. */
export class ScimError extends Error {
  readonly status: number
  readonly scimType: ScimType | undefined

  constructor(status: number, scimType: ScimType | undefined, detail: string) {
    super(detail)
    this.name = 'ScimError'
    this.status = status
    this.scimType = scimType
  }
}

/** A 400 with its keyword. */
export function refuse(scimType: ScimType, detail: string): ScimError {
  return new ScimError(400, scimType, detail)
}

/** The body of a refusal: only the members of RFC 7644 section 3.12, the status as a string. */
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
