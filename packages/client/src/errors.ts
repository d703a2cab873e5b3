import type { ProblemCode } from './api.ts'

/** A refusal as Intercept words it (RFC 9457). */
export interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: ProblemCode
  readonly request_id: string
  readonly errors?: readonly { readonly field?: string; readonly message?: string }[]
}

/** Intercept has refused; decide by `code`. */
export class InterceptError extends Error {
  readonly code: ProblemCode | 'unexpected_answer'
  readonly status: number
  readonly requestId: string | undefined
  /** The whole refusal; undefined where the answer was none of Intercept's. */
  readonly problem: Problem | undefined

  constructor(status: number, problem: Problem | undefined) {
    super(problem === undefined ? `The server answered ${status}.` : problem.detail)
    this.name = 'InterceptError'
    this.code = problem?.code ?? 'unexpected_answer'
    this.status = status
    this.requestId = problem?.request_id
    this.problem = problem
  }
}

/** Reads a refusal out of a response; its body is consumed. */
export async function errorOf(response: Response): Promise<InterceptError> {
  const text = await response.text().catch(() => '')
  try {
    const problem = JSON.parse(text) as Problem
    if (typeof problem.code === 'string') return new InterceptError(response.status, problem)
  } catch {
    // No problem document: something between us and Intercept has answered.
  }
  return new InterceptError(response.status, undefined)
}
