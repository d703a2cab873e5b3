import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permissionsOf } from '../../src/access/index.ts'
import { createId } from '../../src/ids.ts'
import { identities, memberships, organizations, users } from '../../src/store/index.ts'
import { patchUrn, scimCall } from '../conformance/scim/directory.ts'
import { neighboursForTests, type Neighbours } from '../harness/neighbours.ts'
import {
  addMember,
  memberOf,
  personWith,
  signedInByLink,
  withStore,
  type Person,
} from '../harness/person.ts'
import { issuedBy, programWith } from '../harness/program.ts'
import { atGithub, Jar } from '../harness/sign-in.ts'
import { command } from '../harness/sso.ts'

let place: Neighbours
before(async () => {
  place = await neighboursForTests()
})
after(async () => await place[Symbol.asyncDispose]())

/** Makes somebody a member of another organization too, as an accepted invitation or the operator would. */
async function alsoIn(slug: string, email: string, source: 'invitation' | 'operator') {
  await withStore(place.product, async (store) => {
    const organization = await organizations.findBySlug(store, slug)
    const [user] = await users.listByEmail(store, email)
    await store.transaction(async (tx) => {
      const who = { userId: user!.id, organizationId: organization!.id }
      await memberships.insert(tx, { id: createId('mem'), ...who, role: 'viewer', source })
    })
  })
}

async function patchUser(token: string, id: string, active: boolean): Promise<void> {
  const body = {
    schemas: [patchUrn],
    Operations: [{ op: 'replace', path: 'active', value: active }],
  }
  const at = `${place.product.baseUrl}/scim/v2/Users/${id}`
  const answer = await scimCall(at, 'PATCH', { token, body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

describe('who administers another organization of a person', () => {
  const email = 'vera@acme.test'
  const claims = { sub: 'vera', email }
  /** Vera is signed in through the provider of her own company. */
  let vera: Person
  let token: string
  let scimId: string
  let member: string

  const isIn = async (person: Person): Promise<boolean> =>
    (await person.call('GET /organizations/acme')).status === 200

  before(async () => {
    const came = await place.arrive(place.ours.start, claims)
    assert.equal(came.status, 200, came.text)
    vera = came.person
    await alsoIn('evil', email, 'invitation')
    token = (await place.tokenOf(place.neighbour, 'evil')).secret
    const adopted = await place.send(token, email, { externalId: 'v' })
    assert.equal(adopted.status, 201, JSON.stringify(adopted.body))
    scimId = adopted.body.id as string
    member = `/organizations/evil/members/${await place.idIn(email, 'evil')}`
  })

  test('sees and ends no session that the provider of the other organization made', async () => {
    const own = (await vera.call('GET /me')).json.session.id as string
    const listed = await place.neighbour.call(`GET ${member}/sessions`)
    assert.deepEqual(listed.json.items, [])
    const one = await place.neighbour.call(`DELETE ${member}/sessions/${own}`)
    assert.equal(one.status, 404)
    const all = await place.neighbour.call(`DELETE ${member}/sessions`)
    assert.deepEqual([all.status, all.json.sessions], [200, 0])
    assert.ok(await isIn(vera))
    const byLink = await signedInByLink(place.product, email)
    const gone = await place.neighbour.call(`DELETE ${member}/sessions`)
    assert.equal(
      gone.json.sessions,
      1,
      'what reaches the organization is its administrators’ to end',
    )
    assert.equal((await byLink.call('GET /me')).status, 401)
    assert.ok(await isIn(vera))
  })

  test('signs nobody out of the other organization by roles, by the directory or by deactivation', async () => {
    const did = await place.neighbour.call(`PATCH ${member}`, { role: 'developer' })
    assert.equal(did.status, 200, did.text)
    await patchUser(token, scimId, false)
    await patchUser(token, scimId, true)
    for (const active of [false, true]) {
      assert.equal((await place.neighbour.call(`PATCH ${member}`, { active })).status, 200)
    }
    assert.ok(await isIn(vera))
  })

  test('as that person at the own provider, sees and ends no session from elsewhere', async () => {
    const came = await place.arrive(place.theirs.start, { sub: 'v', email })
    assert.equal(came.status, 200, came.text)
    const puppet = came.person
    const me = (await puppet.call('GET /me')).json
    assert.equal(me.id, (await vera.call('GET /me')).json.id, 'the same account')
    const listed = (await puppet.call('GET /me/sessions')).json.items as { id: string }[]
    assert.deepEqual(
      listed.map(({ id }) => id),
      [me.session.id],
    )
    const own = (await vera.call('GET /me')).json.session.id as string
    assert.equal((await puppet.call(`DELETE /me/sessions/${own}`)).status, 404)
    assert.equal((await puppet.call('DELETE /me/sessions')).json.ended, 0)
    assert.ok(await isIn(vera))
    assert.equal((await vera.call('GET /me/sessions')).json.items.length, 1)
  })

  test('ends what is theirs with the membership, and nothing elsewhere', async () => {
    assert.equal((await place.neighbour.call(`DELETE ${member}`)).status, 200)
    assert.ok(await isIn(vera))
    assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
  })

  test('takes the first sign-in of somebody whom the operator added away from nobody, by adopting them', async () => {
    const invited = 'nora@acme.test'
    await addMember(place.product, 'acme', { email: invited, role: 'developer' })
    await alsoIn('evil', invited, 'operator')
    assert.equal((await place.send(token, invited)).status, 201)
    place.parts.github.people.set('nora', {
      id: 777,
      login: 'nora',
      emails: [{ email: invited, primary: true, verified: true }],
    })
    const jar = new Jar()
    const answer = await jar.fetch(await atGithub(jar, place.parts, 'nora'))
    assert.equal(answer.status, 200, await answer.text())
    const nora = personWith(place.product.baseUrl, jar.get('__Host-session'))
    assert.ok(await isIn(nora))
  })

  test('claims nobody by an account that the directory wrote with a foreign address', async () => {
    const written = await place.send(token, 'prey@acme.test', { externalId: 'prey' })
    assert.equal(written.status, 201)
    const theirs = await place.arrive(place.theirs.start, { sub: 'p', email: 'prey@acme.test' })
    assert.equal(theirs.status, 200, theirs.text)
    // Through the provider of their own organization, the person with that address signs in to another account.
    const home = await place.arrive(place.ours.start, { sub: 'prey', email: 'prey@acme.test' })
    assert.equal(home.status, 200, home.text)
    const ids = [theirs, home].map(async ({ person }) => (await person.call('GET /me')).json.id)
    const [puppet, prey] = await Promise.all(ids)
    assert.notEqual(puppet, prey)
  })
})

describe('with a SCIM token alone', () => {
  const email = 'sol@solo.test'
  let owner: Person
  let token: string

  before(async () => {
    owner = await memberOf(place.product, 'solo', { email, role: 'owner' })
    token = (await place.tokenOf(owner, 'solo')).secret
  })
  const ownerIsLeft = async () => {
    const found = await withStore(place.product, async (store) => {
      const organization = await organizations.findBySlug(store, 'solo')
      return await store.transaction(
        async (tx) => await memberships.countOwners(tx, organization!.id),
      )
    })
    assert.equal(found, 1)
    assert.deepEqual(await place.roleOf(email, 'solo'), ['owner'])
  }

  test('the last owner is not replaced by somebody new of the same name', async () => {
    const made = await place.send(token, email)
    assert.equal(made.status, 201)
    await patchUser(token, made.body.id as string, false)
    await ownerIsLeft()
    const again = await place.send(token, email)
    assert.equal(again.status, 409, JSON.stringify(again.body))
    await ownerIsLeft()
  })

  test('the last owner is not demoted by being deleted and sent again', async () => {
    const list = await scimCall(`${place.product.baseUrl}/scim/v2/Users`, 'GET', { token })
    const { id } = (list.body.Resources as { id: string }[])[0]!
    const at = `${place.product.baseUrl}/scim/v2/Users`
    assert.equal((await scimCall(`${at}/${id}`, 'DELETE', { token })).status, 204)
    const made = await place.send(token, email, { externalId: 'sol' })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal((await scimCall(`${at}/${made.body.id}`, 'DELETE', { token })).status, 204)
    await ownerIsLeft()
    assert.equal((await place.send(token, email, { externalId: 'sol' })).status, 201)
    await ownerIsLeft()
  })

  test('nobody becomes an owner by any word of the directory', async () => {
    const made = await place.send(token, 'min@solo.test', {
      roles: [{ value: 'owner', primary: true }],
      role: 'owner',
      entitlements: [{ value: 'owner' }],
      userType: 'owner',
    })
    assert.ok(made.status === 201 || made.status === 400, JSON.stringify(made.body))
    assert.deepEqual(
      (await place.roleOf('min@solo.test', 'solo')).filter((role) => role !== 'viewer'),
      [],
    )
  })
})

describe('with an access token', () => {
  test('issues no token that works from more addresses than its own', async () => {
    const maker = await issuedBy(place.owner, {
      permissions: ['tokens.manage', 'traffic.see'],
      cidrs: ['127.0.0.0/8'],
    })
    const program = programWith(place.product.baseUrl, maker.secret)
    const issue = async (more: object) =>
      await program.call('POST /organizations/acme/access-tokens', { name: 'child', ...more })
    const silent = await issue({})
    assert.equal(silent.status, 201, silent.text)
    assert.deepEqual(silent.json.access_token.cidrs, ['127.0.0.0/8'])
    for (const cidr of ['0.0.0.0/0', '::/0', '126.0.0.0/7', '10.0.0.1']) {
      assert.equal((await issue({ cidrs: [cidr] })).json.code, 'permission_required', cidr)
    }
    assert.equal((await issue({ cidrs: ['127.0.0.1', '127.1.0.0/16'] })).status, 201)
  })

  test('does by a file no more than by its routes, and locks nothing that it may not change', async () => {
    const maker = await issuedBy(place.owner, { permissions: ['organization.manage'] })
    const program = programWith(place.product.baseUrl, maker.secret)
    const C = '/organizations/acme/configuration'
    // Fetch the file without the test client, whose check of field names would object to names given by people.
    const read = async (secret: string) =>
      await fetch(`${place.product.baseUrl}/api/v1${C}`, {
        headers: { authorization: `Bearer ${secret}` },
      })
    assert.equal(
      (await read(maker.secret)).status,
      403,
      'an export shows what the token may not see',
    )
    const sections = ['organization', 'targets', 'webhooks', 'sso', 'keys']
    const reader = await issuedBy(place.owner, {
      permissions: sections.map((section) => `${section}.manage`),
    })
    const { file } = (await (await read(reader.secret)).json()) as { file: string }
    const [reference = ''] = /env:\w+/.exec(file) ?? []
    const apply = async (text: string) =>
      await program.call(`POST ${C}/apply`, {
        file: text,
        label: 'x.yaml',
        secrets: { [reference]: 's' },
      })
    const head = 'version: 1\norganization: { slug: acme'
    for (const more of [
      ' }\ntargets: { stolen: { upstream: "http://localhost:1" } }',
      ' }\ndomains: { evil.test: {} }',
      ' }\nkeys: { stolen: {} }',
      ', plan: standard }',
    ]) {
      const answer = await apply(head + more)
      assert.equal(answer.json.code, 'permission_required', answer.text)
    }
    const plan = await program.call(`POST ${C}/plan`, {
      file: `${head} }\ntargets: { stolen: { upstream: "http://localhost:1" } }`,
      label: 'x.yaml',
    })
    assert.equal(plan.json.code, 'permission_required', plan.text)
    const domain = { section: 'domains', id: 'evil.test' }
    const taken = await program.call(`POST ${C}/take-over`, domain)
    assert.equal(taken.json.code, 'permission_required', taken.text)
    // Applying the exported configuration changes nothing, but from then on the file would manage the connections.
    const same = await apply(file)
    assert.equal(same.json.code, 'permission_required', `${file}\n${same.text}`)
    assert.equal((await apply(`${head} }`)).status, 201)
  })
})

describe('somebody whose power has ended', () => {
  const invite = async (by: Pick<Person, 'call'>, email: string, role: string) => {
    const made = await by.call('POST /organizations/acme/invitations', { email, role })
    assert.equal(made.status, 201, made.text)
    return String(made.json.link).split('/').at(-1) ?? ''
  }
  const opens = async (token: string) =>
    (await personWith(place.product.baseUrl).call('POST /invitations/look', { token })).status ===
    200

  test('is not followed by the invitations that they made', async () => {
    const max = await memberOf(place.product, 'acme', { email: 'max@acme.test', role: 'owner' })
    const asOwner = await invite(max, 'sock@mail.test', 'owner')
    const asAdmin = await invite(max, 'puppet@mail.test', 'admin')
    const { secret } = await issuedBy(max, { permissions: permissionsOf('admin') })
    const byProgram = await invite(
      programWith(place.product.baseUrl, secret),
      'robot@mail.test',
      'admin',
    )
    const at = `/organizations/acme/members/${await place.idIn('max@acme.test')}`
    assert.equal((await place.owner.call(`PATCH ${at}`, { role: 'admin' })).status, 200)
    assert.deepEqual([await opens(asOwner), await opens(asAdmin)], [false, true])
    assert.equal((await place.owner.call(`DELETE ${at}`)).status, 200)
    assert.deepEqual([await opens(asAdmin), await opens(byProgram)], [false, false])
    assert.ok(await opens(await invite(place.owner, 'fine@mail.test', 'owner')))
  })

  test('comes back by no session, token or identity of before, but as anybody new of the domain', async () => {
    const claims = { sub: 'rex', email: 'rex@acme.test' }
    const { person } = await place.arrive(place.ours.start, claims)
    const at = `/organizations/acme/members/${await place.idIn(claims.email)}`
    assert.equal((await place.owner.call(`PATCH ${at}`, { role: 'admin' })).status, 200)
    assert.equal((await person.call('GET /me')).status, 401)
    const rex = (await place.arrive(place.ours.start, claims)).person
    const issued = await issuedBy(rex, { permissions: ['members.manage'] })
    const program = programWith(place.product.baseUrl, issued.secret)
    assert.equal((await program.call('GET /organizations/acme/members')).status, 200)
    assert.equal((await place.owner.call(`DELETE ${at}`)).status, 200)
    assert.equal((await rex.call('GET /organizations/acme')).status, 401)
    assert.equal((await program.call('GET /organizations/acme/members')).status, 401)
    assert.equal((await place.arrive(place.ours.start, claims)).status, 200)
    assert.deepEqual(await place.roleOf(claims.email), ['viewer'])
    const still = await program.call('GET /organizations/acme/members')
    assert.equal(still.json.code, 'credential_revoked')
  })
})

describe('at the same moment', () => {
  test('two first sign-ins of one subject make one account', async () => {
    const claims = { sub: 'twin', email: 'twin@acme.test' }
    const both = await Promise.all([1, 2].map(() => place.arrive(place.ours.start, claims)))
    assert.ok(both.some(({ status }) => status === 200))
    assert.ok(both.every(({ status }) => status < 500))
    assert.deepEqual(await place.roleOf(claims.email), ['viewer'])
  })

  test('an invitation and the directory make one member, and no more than was invited', async () => {
    await command(place.product, 'org create twins')
    await command(place.product, 'org set-plan twins enterprise')
    const boss = await memberOf(place.product, 'twins', { email: 'b@twins.test', role: 'owner' })
    const email = 'both@mail.test'
    const made = await boss.call('POST /organizations/twins/invitations', { email, role: 'viewer' })
    assert.equal(made.status, 201, made.text)
    const { secret } = await place.tokenOf(boss, 'twins')
    place.parts.github.people.set('both', {
      id: 888,
      login: 'both',
      emails: [{ email, primary: true, verified: true }],
    })
    const jar = new Jar()
    const [came, sent] = await Promise.all([
      atGithub(jar, place.parts, 'both').then(async (url) => await jar.fetch(url)),
      place.send(secret, email, { externalId: 'both' }),
    ])
    assert.deepEqual([came.status, sent.status], [200, 201])
    const living = await withStore(place.product, async (store) => {
      const all = await users.listByEmail(store, email, 'anywhere')
      return await Promise.all(all.map(({ id }) => identities.listLiving(store, id)))
    })
    assert.equal(living.flat().length, 1, 'the one identity that the person proved')
    assert.ok((await place.roleOf(email, 'twins')).every((role) => role === 'viewer'))
  })
})
