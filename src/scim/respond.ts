import { Readable } from 'node:stream'
import type { AppReply, AppRequest } from '../http/index.ts'
import { bringsCredential } from './authorization.ts'
import { errorBody } from './protocol/errors.ts'
import type { Pieces, ScimAnswer } from './exchange.ts'
import type { Explained } from './explain.ts'

/** The media type of every response body; it has no charset parameter (RFC 7644 section 8.1). */
export const contentType = 'application/scim+json'

const maxHeldCharacters = 1024 * 1024

/** Sends a handler's response; a large one is produced in pieces while it is sent. */
export async function sendAnswer(
  request: AppRequest,
  reply: AppReply,
  answer: ScimAnswer,
): Promise<AppReply> {
  reply.code(answer.status).headers(answer.headers ?? {})
  if (answer.pieces !== undefined) return await sendPieces(request, reply, answer.pieces)
  return answer.body === undefined ? reply.send() : sendBody(reply, answer.body)
}

/** Sends a refusal in SCIM's format, with our own code in a header. */
export function sendWrong(request: AppRequest, reply: AppReply, wrong: Explained): AppReply {
  const { status, code, scimType, detail, headers } = wrong
  reply.code(status).headers(headers).header('Intercept-Refused', code)
  if (status === 401) {
    const fault = bringsCredential(request) ? ', error="invalid_token"' : ''
    reply.header('WWW-Authenticate', `Bearer realm="intercept scim"${fault}`)
  }
  return sendBody(reply, errorBody(status, scimType, detail))
}

function sendBody(reply: AppReply, body: Record<string, unknown>): AppReply {
  // The body is sent as bytes, so that the framework adds no charset to the content type.
  return reply.header('Content-Type', contentType).send(Buffer.from(JSON.stringify(body)))
}

// Sends a long body while it is produced. A shorter one is produced completely first, so that it has a Content-Length,
// and so that an error on the way becomes a refusal instead of a truncated response.
async function sendPieces(request: AppRequest, reply: AppReply, pieces: Pieces): Promise<AppReply> {
  reply.header('Content-Type', contentType)
  const parts = pieces()
  const held: string[] = []
  for (let characters = 0; characters <= maxHeldCharacters;) {
    const next = await parts.next()
    if (next.done === true) return reply.send(Buffer.from(held.join('')))
    held.push(next.value)
    characters += next.value.length
  }
  if (request.method !== 'HEAD') return reply.send(Readable.from(bytesOf(held, parts)))
  await parts.return(undefined)
  return reply.send()
}

async function* bytesOf(
  held: readonly string[],
  rest: AsyncGenerator<string>,
): AsyncGenerator<Buffer> {
  yield Buffer.from(held.join(''))
  for await (const part of rest) if (part !== '') yield Buffer.from(part)
}
