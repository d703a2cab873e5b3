import { asciiJson, asciiJsonText } from '../../strict-json.ts'
import { Problem, problems, type ProblemCode } from '../../errors.ts'

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
  const headers = listHeaders(own.contentType, { problem, requestId, bytes: body.length })
  addHeaders(headers, problem)
  return { status: problem.status, headers, body }
}

/** Renders a refusal as RFC 9457 problem+json; anything that is not a `Problem` becomes a bare 500. */
export function renderProblem(
  error: unknown,
  context: { requestId: string; baseUrl: string },
): RenderedProblem {
  const problem = error instanceof Problem ? error : new Problem('internal_error')
  const { status } = problem
  const { requestId } = context
  const body = documentOf(problem, context)
  const headers = listHeaders('application/problem+json', {
    problem,
    requestId,
    bytes: body.length,
  })
  if (status === 401 && problem.headers?.['WWW-Authenticate'] === undefined) {
    headers.push('WWW-Authenticate', 'Bearer realm="intercept"')
  }
  addHeaders(headers, problem)
  return { status, headers, body }
}

/** The start of all documents with one code, for a node's base URL. */
interface DocumentStart {
  readonly baseUrl: string
  readonly text: string
}

const starts = new Map<ProblemCode, DocumentStart>()

/**
 * Renders a problem document. Its members are joined as texts, because strangers cause refusals as often as they like,
 * and one `JSON.stringify` of the whole document costs three times as much.
 */
function documentOf(problem: Problem, context: { requestId: string; baseUrl: string }): string {
  const { code, message, members } = problem
  const { requestId, baseUrl } = context
  let start = starts.get(code)
  if (start?.baseUrl !== baseUrl) {
    start = { baseUrl, text: startOf(code, baseUrl) }
    starts.set(code, start)
  }
  // A request id is ours, so nothing in it needs escaping.
  const own = `${start.text}${asciiJsonText(message)},"code":"${code}","request_id":"${requestId}"`
  if (members === undefined) return `${own}}`
  const more = asciiJson(members)
  return more === '{}' ? `${own}}` : `${own},${more.slice(1)}`
}

function startOf(code: ProblemCode, baseUrl: string): string {
  const { title, status } = problems[code]
  return `${asciiJson({ type: `${baseUrl}/problems/${code}`, title, status }).slice(0, -1)},"detail":`
}

function addHeaders(headers: string[], { headers: more }: Problem): void {
  if (more === undefined) return
  for (const name of Object.keys(more)) headers.push(name, more[name] ?? '')
}

interface Refused {
  readonly problem: Problem
  readonly requestId: string
  /** The length of the body. */
  readonly bytes: number
}

function listHeaders(contentType: string, { problem, requestId, bytes }: Refused): string[] {
  return [
    'Content-Type',
    contentType,
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
