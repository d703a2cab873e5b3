import type { TestBrowser } from './browser.ts'
import { idpForTests, type TestIdp } from './idp.ts'
import type { Person } from './person.ts'
import type { TestProduct } from './product.ts'
import { groupUrn, patchUrn, scimCall, userUrn } from '../conformance/scim/directory.ts'
import { command } from './sso.ts'

/** The company's identity provider, which must run for as long as the pages are open. */
export type Company = AsyncDisposable

/** The directory's people: name, login, group. */
export const people = [
  ['Ada Lovelace', 'ada', 'developer'],
  ['Edsger Dijkstra', 'edsger', 'developer'],
  ['Barbara Liskov', 'barbara', 'platform'],
  ['Katherine Johnson', 'katherine', 'platform'],
  ['Margaret Hamilton', 'margaret', 'platform'],
  ['Leslie Lamport', 'leslie', 'developer'],
  ['Tony Hoare', 'tony', 'audit'],
] as const

/** Creates domains, connections in several states, and a directory with people, groups, roles and refused requests. */
export async function companyFor(
  product: TestProduct,
  browser: TestBrowser,
  owner: Person,
): Promise<Company> {
  const idp = await idpForTests({
    people: people.map(([name, login]) => ({
      subject: `c-${login}`,
      email: `${login}@acme.test`,
      emailVerified: true,
      name,
      claims: { groups: ['everyone', 'platform'] },
    })),
  })
  await connections(product, browser, owner, idp)
  await directory(product, owner)
  return idp
}

async function connections(
  product: TestProduct,
  browser: TestBrowser,
  owner: Person,
  idp: TestIdp,
): Promise<void> {
  const connect = async (name: string, kind: string, clientId: string, clientSecret: string) => {
    const body = {
      name,
      kind,
      issuer: idp.issuer,
      client_id: clientId,
      client_secret: clientSecret,
    }
    const made = await ask(owner, 'POST /organizations/acme/connections', body)
    idp.allowRedirect(String(made.redirect_uri))
    return String(made.id)
  }
  const works = await connect('Okta production', 'okta', idp.clientId, idp.clientSecret)
  const broken = await connect('Entra of the sister company', 'entra', idp.clientId, 'out-of-date')
  await connect('Keycloak, not yet tried', 'other', idp.clientId, idp.clientSecret)
  const old = await connect('Google Workspace until 2025', 'google', idp.clientId, idp.clientSecret)
  await ask(owner, `POST /organizations/acme/connections/${old}/disable`)
  for (const [domain, connection] of [
    ['acme.test', works],
    ['sister.test', broken],
  ] as const) {
    await command(product, `sso verify-domain acme ${domain} --override`)
    const { items } = await ask(owner, 'GET /organizations/acme/domains')
    const id = items.find((one: { name: string }) => one.name === domain)?.id as string
    await ask(owner, `PATCH /organizations/acme/domains/${id}`, { connection_id: connection })
  }
  await ask(owner, 'POST /organizations/acme/domains', { name: 'acme-labs.test' })

  const test = await ask(owner, `POST /organizations/acme/connections/${works}/tests`)
  await walk(browser, String(test.address), 'ada@acme.test')
  for (const [connection, login] of [
    [works, 'ada@acme.test'],
    [broken, 'edsger@acme.test'],
  ] as const) {
    await walk(browser, `${product.baseUrl}/api/v1/auth/sso/${connection}/login`, login)
  }
}

async function walk(browser: TestBrowser, address: string, login: string): Promise<void> {
  await using visitor = await browser.visit({})
  const { page } = visitor
  await page.goto(address)
  await page.getByLabel('Login').fill(login)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(/callback|\/o\/|welcome/)
}

async function directory(product: TestProduct, owner: Person): Promise<void> {
  const issue = async (name: string) =>
    await ask(owner, 'POST /organizations/acme/directory/tokens', { name })
  const old = await issue('Okta trial')
  await ask(owner, `POST /organizations/acme/directory/tokens/${String(old.token.id)}/revoke`)
  const token = String((await issue('Okta production')).secret)
  const send = async (method: string, path: string, body?: object) => {
    const headers = { 'user-agent': 'Okta SCIM Client 1.0.0' }
    const url = `${product.baseUrl}/scim/v2${path}`
    return await scimCall(url, method, { token, body, headers })
  }
  const ids = new Map<string, string[]>()
  let last = ''
  for (const [index, [name, login, group]] of people.entries()) {
    const filter = encodeURIComponent(`userName eq "${login}@acme.test"`)
    await send('GET', `/Users?filter=${filter}&startIndex=1&count=100`)
    const [givenName = '', familyName = ''] = name.split(' ')
    const made = await send('POST', '/Users', {
      schemas: [userUrn],
      userName: `${login}@acme.test`,
      name: { givenName, familyName },
      displayName: name,
      emails: [{ primary: true, value: `${login}@acme.test`, type: 'work' }],
      externalId: `00u1k${index}x9Qa2P5d7`,
      active: true,
    })
    if (made.status >= 300) throw new Error(JSON.stringify(made.body))
    last = String(made.body.id)
    ids.set(group, [...(ids.get(group) ?? []), last])
  }
  for (const [displayName, members] of ids) {
    await send('POST', '/Groups', {
      schemas: [groupUrn],
      displayName,
      externalId: `00g1k-${displayName}`,
      members: members.map((value) => ({ value })),
    })
  }
  await send('POST', '/Users', { schemas: [userUrn], userName: 'ada@acme.test' })
  await send('PATCH', `/Users/${last}`, {
    schemas: [patchUrn],
    Operations: [{ op: 'replace', value: { active: false } }],
  })
  await send('GET', '/Users?filter=shoeSize%20eq%2042')
  const groups = await ask(owner, 'GET /organizations/acme/directory/groups')
  for (const [name, role] of [
    ['platform', 'admin'],
    ['developer', 'developer'],
  ]) {
    const id = groups.items.find((one: { name: string }) => one.name === name)?.id as string
    await ask(owner, `PUT /organizations/acme/directory/groups/${id}/role`, { role })
  }
}

/** Calls the API as a person and returns the response's JSON; throws if the call is refused. */
export async function ask(person: Person, route: string, body?: object) {
  const { status, json, text } = await person.call(route, body)
  if (status >= 300) throw new Error(`${route}: ${text}`)
  return json
}
