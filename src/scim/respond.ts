import { Readable } from 'node:stream'
import type { AppReply, AppRequest } from '../http/index.ts'
import { bringsCredential } from './authorization.ts'
import { errorBody } from './protocol/errors.ts'
import type { Pieces, ScimAnswer } from './exchange.ts'
import type { Explained } from './explain.ts'

/** The type of every response, which has no charset parameter (RFC 7644 section 8.1). */
export const contentType = 'application/scim+json'

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
  // Sent as bytes, so that the framework adds no charset to the type.
  return reply.header('Content-Type', contentType).send(Buffer.from(JSON.stringify(body)))
}

// Sends a large body while it is produced. A smaller one is produced completely first, so that it has a Content-Length,
// and an error on the way becomes a refusal instead of a truncated response.
async function sendPieces(
  request: AppRequest,
  reply: AppReply,
  { isLarge, text }: Pieces,
): Promise<AppReply> {
  reply.header('Content-Type', contentType)
  if (isLarge) {
    return request.method === 'HEAD' ? reply.send() : reply.send(Readable.from(bytesOf(text())))
  }
  const parts: string[] = []
  for await (const part of text()) parts.push(part)
  return reply.send(Buffer.from(parts.join('')))
}

async function* bytesOf(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const part of text) if (part !== '') yield Buffer.from(part)
}
