import { productForTests, type TestProduct } from '../../harness/product.ts'
import { auditEntries, events, organizations, type Engine } from '../../../src/store/index.ts'
import { withStore } from '../../harness/person.ts'
import { eventsThatFit } from '../../harness/events.ts'
import { intercept } from '../../harness/terminal.ts'

export interface ScimReply {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it expects
  readonly body: any
}

/** A running product with an organization that has a directory, and what a test needs to act as that directory. */
export interface TestDirectory extends AsyncDisposable {
  readonly product: TestProduct
  readonly token: string
  readonly base: string
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ScimReply>
  /** Adds a user with a unique name; returns its document. */
  addUser(more?: Record<string, unknown>): Promise<ScimReply['body']>
  addGroup(members?: readonly string[]): Promise<ScimReply['body']>
  /** A user name that nobody has yet. */
  unique(): string
  /** A token of another organization. */
  readonly otherToken: string
}

export const userUrn = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const enterpriseUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error'
export const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** Starts the product with two enterprise organizations, each with a SCIM token. */
export async function directoryForTests(
  engine: Engine,
  settings: Record<string, string> = {},
): Promise<TestDirectory> {
  const product = await productForTests({ engine, settings })
  const token = await issueToken(product, 'acme')
  const otherToken = await issueToken(product, 'other')
  const base = `${product.baseUrl}/scim/v2`
  let count = 0
  const unique = (): string => `user${++count}@acme.test`
  const add = async (path: string, body: unknown): Promise<ScimReply['body']> => {
    const made = await scimCall(`${base}${path}`, 'POST', { token, body })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body
  }
  return {
    unique,
    addUser: async (more = {}) =>
      await add('/Users', { schemas: [userUrn], userName: unique(), ...more }),
    addGroup: async (members = []) =>
      await add('/Groups', {
        schemas: [groupUrn],
        displayName: `Group ${++count}`,
        members: members.map((value) => ({ value })),
      }),
    product,
    token,
    otherToken,
    base,
    call: async (method, path, body, headers) =>
      await scimCall(`${base}${path}`, method, { token, body, headers }),
    [Symbol.asyncDispose]: async () => await product[Symbol.asyncDispose](),
  }
}

/** An audit entry (named by its action) or an event (named by its type), with its data. */
export interface Told {
  readonly name: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it expects
  readonly data: any
}

/** Runs some work and returns the audit entries and events that it causes in acme, each in order. */
export async function toldWhile(
  directory: TestDirectory,
  work: () => Promise<unknown>,
): Promise<{ audit: Told[]; events: Told[] }> {
  const before = await allTold(directory)
  await work()
  const after = await allTold(directory)
  return {
    audit: after.audit.slice(before.audit.length),
    events: after.events.slice(before.events.length),
  }
}

async function allTold({ product }: TestDirectory): Promise<{ audit: Told[]; events: Told[] }> {
  return await withStore(product, async (store) => {
    const { id } = (await organizations.findBySlug(store, 'acme'))!
    const entries = await auditEntries.listFrom(store, {
      organizationId: id,
      fromSequence: 0,
      limit: 10_000,
    })
    // Whatever the test looks for, each event must match its schema in the catalogue.
    await eventsThatFit(store, id)
    const published = await events.listAfter(store, id, { after: 0, limit: 10_000 })
    return {
      audit: entries.map((row) => ({ name: row.action, data: JSON.parse(row.detail) })),
      events: published.map(({ type, body }) => ({
        name: type,
        data: (JSON.parse(body.toString()) as { data: unknown }).data,
      })),
    }
  })
}

/** Sends one request; a string body is sent unchanged. */
export async function scimCall(
  url: string,
  method: string,
  given: { token?: string; body?: unknown; headers?: Record<string, string> | undefined },
): Promise<ScimReply> {
  const body = typeof given.body === 'string' ? given.body : JSON.stringify(given.body)
  const response = await fetch(url, {
    method,
    headers: {
      ...(given.token === undefined ? {} : { authorization: `Bearer ${given.token}` }),
      ...(given.body === undefined ? {} : { 'content-type': 'application/scim+json' }),
      ...given.headers,
    },
    ...(given.body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

async function issueToken(product: TestProduct, slug: string): Promise<string> {
  await commandLine(['org', 'create', slug, '--plan', 'enterprise'], product)
  const issued = await commandLine(['scim', 'token', 'issue', slug, '--name', 'test'], product)
  return String(issued['secret'])
}

/** Runs a command on the product's own database; returns its `--json` output. */
export async function commandLine(
  words: readonly string[],
  product: TestProduct,
): Promise<Record<string, unknown>> {
  const { code, out, err } = await intercept([...words, '--json'], { env: { ...product.env } })
  if (code !== 0) throw new Error(`${words.join(' ')}: ${err}`)
  return JSON.parse(out) as Record<string, unknown>
}
