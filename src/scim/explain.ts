import { Problem, type ProblemCode } from '../errors.ts'
import { codesOfStatus, ScimError, type ScimType } from './protocol/errors.ts'

/** An error in SCIM's terms. */
export interface Explained {
  readonly status: number
  /** Our own code, sent only in the header `Intercept-Refused`, because SCIM's bodies have SCIM's own keywords. */
  readonly code: ProblemCode
  readonly scimType: ScimType | undefined
  readonly detail: string
  readonly headers: Readonly<Record<string, string>>
}

// Maps problem codes to SCIM keywords (RFC 7644 table 9).
const scimTypes: Partial<Record<ProblemCode, ScimType>> = {
  conflict: 'uniqueness',
  invalid_input: 'invalidValue',
  bad_request: 'invalidSyntax',
  body_too_large: 'tooMany',
}

/** Creates a function that explains any thrown error in SCIM's terms; unexpected errors get a 500 without details. */
export function createExplain(
  translate: (error: unknown) => Problem | undefined,
): (error: unknown) => Explained {
  return (error) => {
    if (error instanceof ScimError) {
      const { status, scimType, message: detail, headers } = error
      return { status, code: codeOf(error), scimType, detail, headers }
    }
    const problem = error instanceof Problem ? error : (translate(error) ?? fromFramework(error))
    const detail =
      problem.code === 'internal_error' ? 'Something went wrong here.' : problem.message
    const { status, code } = problem
    return { status, code, scimType: scimTypes[code], detail, headers: problem.headers ?? {} }
  }
}

function codeOf({ status, scimType }: ScimError): ProblemCode {
  if (scimType === 'invalidSyntax') return 'bad_request'
  return codesOfStatus[status]
}

function fromFramework(error: unknown): Problem {
  const { statusCode } = error as { statusCode?: number }
  if (statusCode === 413) return new Problem('body_too_large', 'The body is too large.')
  if (statusCode === 415) return new Problem('unsupported_media_type')
  if (statusCode === 400) return new Problem('bad_request')
  return new Problem('internal_error', undefined, { cause: error })
}
