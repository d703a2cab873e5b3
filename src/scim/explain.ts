import { Problem, type ProblemCode } from '../errors.ts'
import { ScimError, type ScimType } from './errors.ts'

/** An error as SCIM says it. */
export interface Explained {
  readonly status: number
  readonly scimType: ScimType | undefined
  readonly detail: string
  readonly headers: Readonly<Record<string, string>>
}

// What the rules below refuse with, in SCIM's words (RFC 7644 table 9).
const scimTypes: Partial<Record<ProblemCode, ScimType>> = {
  conflict: 'uniqueness',
  invalid_input: 'invalidValue',
  bad_request: 'invalidSyntax',
  body_too_large: 'tooMany',
}

/** Explains whatever was thrown; what nobody expected is a bare 500. */
export function createExplain(
  translate: (error: unknown) => Problem | undefined,
): (error: unknown) => Explained {
  return (error) => {
    if (error instanceof ScimError) {
      const { status, scimType, message: detail, headers } = error
      return { status, scimType, detail, headers }
    }
    const problem = error instanceof Problem ? error : (translate(error) ?? fromFramework(error))
    const detail =
      problem.code === 'internal_error' ? 'Something went wrong here.' : problem.message
    return { status: problem.status, scimType: scimTypes[problem.code], detail, headers: {} }
  }
}

function fromFramework(error: unknown): Problem {
  const { statusCode } = error as { statusCode?: number }
  if (statusCode === 413) return new Problem('body_too_large', 'The body is too large.')
  if (statusCode === 415) return new Problem('unsupported_media_type')
  if (statusCode === 400) return new Problem('bad_request')
  return new Problem('internal_error', undefined, { cause: error })
}
