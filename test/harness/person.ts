import { createId } from '../../src/ids.ts'
import { memberships, openStore, organizations, users, type Store } from '../../src/store/index.ts'
import { createSealer, loadMasterSecrets } from '../../src/secrets/index.ts'
import { Links } from '../../src/organizations/index.ts'
import { assertSnakeCase } from './casing.ts'
import type { TestProduct } from './product.ts'

/** A person using the JSON API, with or without a session cookie. */
export interface Person {
  /** The session cookie's value. */
  cookie: string | undefined
  /** Calls a route below /api/v1 as the dashboard would. */
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it expects
  readonly json: any
  readonly text: string
}

/**
 * Creates a person whose calls go to `at`, which may be another node. Calls other than GET name `baseUrl` as their
 * origin.
 */
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
      const json = parsed(text)
      assertSnakeCase(json, route)
      return { status: answer.status, headers: answer.headers, text, json }
    },
  }
  return person
}

/** Returns the session token that a response sets: '' if it removes the cookie, undefined if it does neither. */
export function sessionOf(headers: Headers): string | undefined {
  for (const line of headers.getSetCookie()) {
    const match = /^__Host-session=([^;]*)/.exec(line)
    if (match) return match[1]
  }
  return undefined
}

/** Uses the setup link to create the first owner of organization `acme`, signed in. */
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

/** Runs work that makes setup and sign-in links, as the command line does, in the product's own database. */
export async function withLinks<T>(
  product: TestProduct,
  work: (links: Links) => Promise<T>,
): Promise<T> {
  const { clock, baseUrl } = product
  return await withStore(product, async (store) => await work(new Links({ store, clock, baseUrl })))
}

/** Runs work on the product's own database, opened as another process would open it. */
export async function withStore<T>(
  product: TestProduct,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  await using store = await openStore({
    databaseUrl: product.env['DATABASE_URL'],
    folder: product.folder,
    clock: product.clock,
    isNode: false,
    authenticator: createSealer(loadMasterSecrets(product.env['INTERCEPT_SECRET'], product.folder)),
  })
  return await work(store)
}

/** Creates the organization if it does not exist, adds a member, and signs them in with a sign-in link. */
export async function memberOf(product: TestProduct, slug: string, who: Who): Promise<Person> {
  await addMember(product, slug, who)
  return await signedInByLink(product, who.email)
}

interface Who {
  readonly email: string
  readonly role: 'owner' | 'admin' | 'developer' | 'viewer'
}

/**
 * Adds a person to an organization as the operator does: nobody has signed in to the account yet. Creates the
 * organization if it does not exist.
 */
export async function addMember(product: TestProduct, slug: string, who: Who): Promise<void> {
  await withStore(product, async (store) => {
    await store.transaction(async (tx) => {
      const known = await organizations.findBySlug(tx, slug)
      const input = { id: createId('org'), slug, name: slug, plan: 'enterprise' } as const
      const organization = known ?? (await organizations.insert(tx, input))
      if (!organization) throw new Error('no organization')
      const { email, role } = who
      const user = await users.insert(tx, { id: createId('usr'), name: email, email })
      const organizationId = organization.id
      const member = { id: createId('mem'), organizationId, userId: user.id, role } as const
      await memberships.insert(tx, { ...member, source: 'operator' })
    })
  })
}

/** Signs a person in with a sign-in link, like the one that the CLI prints. */
export async function signedInByLink(product: TestProduct, email: string): Promise<Person> {
  const link = await withLinks(product, async (links) => await links.signInLink(email))
  const answer = await fetch(`${product.baseUrl}/sign-in-link`, {
    method: 'POST',
    headers: { origin: product.baseUrl },
    body: new URLSearchParams({ token: new URL(link).searchParams.get('token') ?? '' }),
  })
  await answer.text()
  const token = sessionOf(answer.headers)
  if (!token) throw new Error(`the link signed nobody in: ${answer.status}`)
  return personWith(product.baseUrl, token)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
