import assert from 'node:assert/strict'
import { memberships, organizations } from '../../src/store/index.ts'
import { scimCall, userUrn } from '../conformance/scim/directory.ts'
import { hostileIdp } from './hostile-idp.ts'
import { firstOwner, memberOf, personWith, sessionOf, withStore, type Person } from './person.ts'
import { Jar, signInProductForTests } from './sign-in.ts'
import { command, walk } from './sso.ts'

/**
 * Starts the product with two organizations that use SSO: `acme`, with an owner and an administrator, and its neighbour
 * `evil`, with an administrator.
 */
export async function neighboursForTests() {
  const idp = await hostileIdp({
    pairwise: {
      discovery: (document) => ({ ...document, subject_types_supported: ['pairwise'] }),
    },
  })
  const successor = await hostileIdp({})
  const parts = await signInProductForTests()
  const { product } = parts
  const owner = await firstOwner(product)
  await command(product, 'org set-plan acme enterprise')
  const admin = await memberOf(product, 'acme', { email: 'adam@acme.test', role: 'admin' })
  const neighbour = await memberOf(product, 'evil', { email: 'eve@evil.test', role: 'admin' })

  async function connect(person: Person, slug: string, more: object = {}) {
    const made = await person.call(`POST /organizations/${slug}/connections`, {
      issuer: idp.issuerOf('honest'),
      client_id: 'intercept',
      client_secret: 's',
      ...more,
    })
    assert.equal(made.status, 201, made.text)
    return { id: made.json.id as string, start: made.json.initiate_login_uri as string }
  }
  async function own(slug: string, person: Person, domain: string): Promise<void> {
    await person.call(`POST /organizations/${slug}/domains`, { name: domain })
    await command(product, `sso verify-domain ${slug} ${domain} --override`)
  }
  async function arrive(start: string, claims: Record<string, unknown>) {
    const person = { email_verified: true, name: String(claims['sub']), ...claims } as never
    idp.person = person
    successor.person = person
    const answer = await walk(new Jar(), start)
    const text = await answer.text()
    return {
      status: answer.status,
      refused: answer.headers.get('intercept-refused'),
      person: personWith(product.baseUrl, sessionOf(answer.headers)),
      text,
    }
  }
  async function invite(email: string, role: string): Promise<void> {
    const made = await owner.call('POST /organizations/acme/invitations', { email, role })
    assert.equal(made.status, 201, made.text)
  }
  async function tokenOf(person: Person, slug: string): Promise<{ secret: string; id: string }> {
    const issued = await person.call(`POST /organizations/${slug}/directory/tokens`, { name: 'x' })
    assert.equal(issued.status, 201, issued.text)
    return { secret: issued.json.secret as string, id: issued.json.token.id as string }
  }
  async function revoke(person: Person, slug: string, id: string): Promise<void> {
    const gone = await person.call(`POST /organizations/${slug}/directory/tokens/${id}/revoke`)
    assert.ok(gone.status < 300, gone.text)
  }
  async function send(token: string, userName: string, more: object = {}) {
    const body = { schemas: [userUrn], userName, active: true, ...more }
    return await scimCall(`${product.baseUrl}/scim/v2/Users`, 'POST', { token, body })
  }
  async function roleOf(email: string, slug = 'acme'): Promise<string[]> {
    return await withStore(product, async (store) => {
      const organization = await organizations.findBySlug(store, slug)
      const rows = await store.query
        .selectFrom('membership')
        .innerJoin('user', 'user.id', 'membership.user_id')
        .select('membership.role')
        .where('organization_id', '=', organization!.id)
        .where('user.email_key', '=', email)
        .execute()
      return rows.map(({ role }) => role)
    })
  }
  async function idIn(email: string, slug = 'acme'): Promise<string> {
    return await withStore(product, async (store) => {
      const organization = await organizations.findBySlug(store, slug)
      const all = await memberships.list(store, organization!.id, { limit: 200 })
      return all.find((member) => member.email === email)?.id ?? ''
    })
  }
  async function save(person: Person, connection: { id: string }): Promise<void> {
    const path = `/organizations/acme/connections/${connection.id}`
    const saved = await person.call(`PATCH ${path}`, { name: 'The company' })
    assert.equal(saved.status, 200, saved.text)
  }

  await own('acme', owner, 'acme.test')
  await own('evil', neighbour, 'evil.test')
  return {
    ...{ parts, product, idp, successor, owner, admin, neighbour },
    ...{ connect, own, arrive, invite, tokenOf, revoke, send, roleOf, idIn, save },
    ours: await connect(owner, 'acme'),
    theirs: await connect(neighbour, 'evil'),
    [Symbol.asyncDispose]: async () => {
      await parts[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
      await successor[Symbol.asyncDispose]()
    },
  }
}

export type Neighbours = Awaited<ReturnType<typeof neighboursForTests>>
