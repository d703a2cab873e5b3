import type { ProblemCode } from './api.ts'

/** The problem document of a refusal by Intercept (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly request_id: string
  readonly errors?: readonly { readonly field?: string; readonly message?: string }[]
}

/**
 * Thrown when a request is refused; `code` says why, and is `unexpected_answer` if the response does not say, for
 * example because something other than Intercept responded.
 */
export class InterceptError extends Error {
  readonly code: ProblemCode | 'unexpected_answer'
  readonly status: number
  readonly requestId: string | undefined
  /** The complete problem document; undefined if the response has none. */
  readonly problem: Problem | undefined

  /** `problem` is the response's body; without one, the code and request id come from the response's headers. */
  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, problem?: Problem) {
    super(problem === undefined ? `The server answered ${status}.` : problem.detail)
    this.name = 'InterceptError'
    const refused = headers.get('intercept-refused') as ProblemCode | null
    this.code = problem?.code ?? refused ?? 'unexpected_answer'
    this.status = status
    this.requestId = problem?.request_id ?? headers.get('intercept-request-id') ?? undefined
    this.problem = problem
  }
}

/** Reads a refusal from a response and consumes its body. */
export async function errorOf(response: Response): Promise<InterceptError> {
  const text = await response.text().catch(() => '')
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string') return new InterceptError(response, problem)
  } catch {
    // A refused HEAD has no body, and something between us and Intercept may have responded.
  }
  return new InterceptError(response)
}
