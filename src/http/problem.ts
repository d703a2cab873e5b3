import { Problem, problems } from '../errors.ts'

/** A refusal ready to be sent: flat header list, body as ASCII-safe JSON text. */
export interface RenderedProblem {
  readonly status: number
  readonly headers: string[]
  readonly body: string
}

/** Renders a refusal as RFC 9457 problem+json; whatever is not a `Problem` becomes a bare 500. */
export function renderProblem(
  error: unknown,
  context: { requestId: string; baseUrl: string },
): RenderedProblem {
  const problem = error instanceof Problem ? error : new Problem('internal_error')
  const { status, title } = problems[problem.code]
  const body = asciiJson({
    type: `${context.baseUrl}/problems/${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    request_id: context.requestId,
    ...problem.members,
  })
  const headers = [
    'Content-Type',
    'application/problem+json',
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Intercept-Request-Id',
    context.requestId,
    'Intercept-Refused',
    problem.code,
    'Content-Length',
    String(body.length),
  ]
  if (status === 401 && problem.headers?.['WWW-Authenticate'] === undefined) {
    headers.push('WWW-Authenticate', 'Bearer realm="intercept"')
  }
  for (const [name, value] of Object.entries(problem.headers ?? {})) headers.push(name, value)
  return { status, headers, body }
}

// Escaped to ASCII, so that its length is its byte length and no reader guesses an encoding.
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
