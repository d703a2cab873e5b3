import assert from 'node:assert/strict'
import { idpForTests, type IdpPerson, type TestIdp } from './idp.ts'
import type { TestProduct } from './product.ts'
import { Jar } from './sign-in.ts'
import { intercept } from './terminal.ts'

/** The output of `sso connect --json`. */
export interface Connected {
  readonly id: string
  readonly redirect_uri: string
  readonly initiate_login_uri: string
  readonly backchannel_logout_uri: string
}

/** Runs a command on the product's database; the test fails if the command does. */
export async function command<T>(product: TestProduct, words: string, input = ''): Promise<T> {
  const said = await intercept([...words.split(' '), '--json'], { env: { ...product.env }, input })
  assert.equal(said.code, 0, said.err)
  return JSON.parse(said.out) as T
}

/** Connects a provider to an organization and, if `domain` is given, verifies that domain. */
export async function connect(
  product: TestProduct,
  input: {
    organization: string
    issuer: string
    clientId: string
    secret: string
    domain?: string
  },
): Promise<Connected> {
  const domain = input.domain === undefined ? '' : ` --domain ${input.domain}`
  const made = await command<Connected>(
    product,
    `sso connect ${input.organization} --issuer ${input.issuer} --client-id ${input.clientId} --client-secret-stdin${domain}`,
    input.secret,
  )
  if (input.domain !== undefined) {
    await command(product, `sso verify-domain ${input.organization} ${input.domain} --override`)
  }
  return made
}

/** Starts a real OpenID provider with these people, connected to an organization. */
export async function connectedIdp(
  product: TestProduct,
  input: { organization: string; domain: string; people: readonly IdpPerson[] },
): Promise<{ idp: TestIdp; connection: Connected }> {
  const idp = await idpForTests({ people: input.people })
  const { issuer, clientId, clientSecret: secret } = idp
  const { organization, domain } = input
  const connection = await connect(product, { organization, issuer, clientId, secret, domain })
  idp.allowRedirect(connection.redirect_uri)
  return { idp, connection }
}

/** Signs in at a provider that redirects immediately; returns our response to the callback, or to a refused start. */
export async function walk(jar: Jar, login: string): Promise<Response> {
  const start = await jar.fetch(login)
  if (start.status !== 302) return start
  const there = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
  return await jar.fetch(there.headers.get('location') ?? '')
}
