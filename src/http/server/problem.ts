import { Problem, problems } from '../../errors.ts'

/** A refusal ready to be sent: `headers` is a flat list, and `body` is text whose characters are bytes (latin1). */
export interface RenderedProblem {
  readonly status: number
  readonly headers: string[]
  readonly body: string
}

/** How an entry point with its own error format (SCIM) renders refusals made before one of its routes is found. */
export interface OwnRefusals {
  /** The entry point's URL prefix: this path and everything below it. */
  readonly prefix: string
  readonly contentType: string
  render(problem: Problem): Uint8Array
}

/** Finds the entry point that renders refusals for this URL in its own format; undefined if none does. */
export function ownRefusalsOf(
  entryPoints: readonly OwnRefusals[] | undefined,
  url: string,
): OwnRefusals | undefined {
  const path = url.split('?', 1)[0] ?? ''
  return entryPoints?.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
}

/** Renders a refusal in an entry point's own format; the body is text whose characters are bytes (latin1). */
export function renderOwn(own: OwnRefusals, problem: Problem, requestId: string): RenderedProblem {
  const body = Buffer.from(own.render(problem)).toString('latin1')
  const headers = ['Content-Type', own.contentType, ...ownHeaders(problem, requestId, body.length)]
  for (const [name, value] of Object.entries(problem.headers ?? {})) headers.push(name, value)
  return { status: problem.status, headers, body }
}

/** Renders a refusal as RFC 9457 problem+json; anything that is not a `Problem` becomes a bare 500. */
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
    ...ownHeaders(problem, context.requestId, body.length),
  ]
  if (status === 401 && problem.headers?.['WWW-Authenticate'] === undefined) {
    headers.push('WWW-Authenticate', 'Bearer realm="intercept"')
  }
  for (const [name, value] of Object.entries(problem.headers ?? {})) headers.push(name, value)
  return { status, headers, body }
}

function ownHeaders(problem: Problem, requestId: string, bytes: number): string[] {
  return [
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    'Intercept-Request-Id',
    requestId,
    'Intercept-Refused',
    problem.code,
    'Content-Length',
    String(bytes),
  ]
}

// Escapes everything beyond ASCII, so that the text's length is its length in bytes and readers need not guess an
// encoding.
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
