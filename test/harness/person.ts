import { openStore } from '../../src/store/index.ts'
import { createLinks } from '../../src/organizations/index.ts'
import type { TestProduct } from './product.ts'

/** Somebody at the JSON API, with or without a session cookie. */
export interface Person {
  /** The session cookie's value. */
  cookie: string | undefined
  /** Calls a route below /api/v1 as the dashboard would. */
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** An answer, read. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into what they expect
  readonly json: any
  readonly text: string
}

/** Somebody who calls with this session cookie. */
export function personWith(baseUrl: string, cookie?: string, at = baseUrl): Person {
  const person: Person = {
    cookie,
    async call(route, body, headers = {}) {
      const [method = 'GET', path = ''] = route.split(' ')
      const answer = await fetch(`${at}/api/v1${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(person.cookie === undefined ? {} : { cookie: `__Host-session=${person.cookie}` }),
          ...(method === 'GET' ? {} : { origin: baseUrl, 'content-type': 'application/json' }),
          ...headers,
        },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      })
      const text = await answer.text()
      const kept = sessionOf(answer.headers)
      if (kept !== undefined) person.cookie = kept === '' ? undefined : kept
      return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
    },
  }
  return person
}

/** The session token that an answer sets, '' where it takes it away. */
export function sessionOf(headers: Headers): string | undefined {
  for (const line of headers.getSetCookie()) {
    const match = /^__Host-session=([^;]*)/.exec(line)
    if (match) return match[1]
  }
  return undefined
}

/** Uses the setup link: the first owner of organization `acme`, signed in. */
export async function firstOwner(product: TestProduct): Promise<Person> {
  const link = await withLinks(product, async (links) => await links.setupLink())
  const token = new URL(link ?? '').searchParams.get('token')
  const person = personWith(product.baseUrl)
  const made = await person.call('POST /setup', {
    token,
    name: 'Olga Owner',
    email: 'olga@acme.test',
    organization: { slug: 'acme', name: 'Acme' },
  })
  if (made.status !== 201) throw new Error(`set-up failed: ${made.text}`)
  return person
}

/** What the command line does with links, on the product's own database. */
export async function withLinks<T>(
  product: TestProduct,
  work: (links: ReturnType<typeof createLinks>) => Promise<T>,
): Promise<T> {
  await using store = await openStore({
    databaseUrl: product.env['DATABASE_URL'],
    folder: product.folder,
    clock: product.clock,
    isNode: false,
  })
  return await work(createLinks({ store, clock: product.clock, baseUrl: product.baseUrl }))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
