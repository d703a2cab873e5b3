import { assertSnakeCase } from './casing.ts'
import type { Person, Reply } from './person.ts'

/** A program using the JSON API with an access token: no cookie, no origin. */
export interface Program {
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

export function programWith(at: string, secret: string): Program {
  return {
    async call(route, body, headers = {}) {
      const [method = 'GET', path = ''] = route.split(' ')
      const response = await fetch(`${at}/api/v1${path}`, {
        method,
        redirect: 'manual',
        headers: {
          authorization: `Bearer ${secret}`,
          ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      })
      const text = await response.text()
      const isJson = /^application\/(problem\+)?json/.test(
        response.headers.get('content-type') ?? '',
      )
      const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
      assertSnakeCase(json, route)
      return { status: response.status, headers: response.headers, text, json }
    },
  }
}

/** Issues an access token; throws if that is refused. */
export async function issuedBy(
  person: Person | Program,
  input: {
    readonly name?: string
    readonly permissions?: readonly string[]
    readonly expires_at?: string | null
    readonly cidrs?: readonly string[]
  },
  organization = 'acme',
): Promise<{ readonly id: string; readonly secret: string }> {
  const issued = await person.call(`POST /organizations/${organization}/access-tokens`, {
    name: 'a program',
    ...input,
  })
  if (issued.status !== 201) throw new Error(`no access token: ${issued.text}`)
  return { id: issued.json.access_token.id, secret: issued.json.secret }
}
