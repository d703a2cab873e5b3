import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { permissionsOf } from '../../src/access/index.ts'
import { scimCall, userUrn, groupUrn } from '../conformance/scim/directory.ts'
import { hostileIdp, type HostileIdp } from '../harness/hostile-idp.ts'
import { firstOwner, memberOf, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { issuedBy, programWith, type Program } from '../harness/program.ts'
import { command } from '../harness/sso.ts'
import { engines } from '../harness/store.ts'

const at = '/organizations/acme'

for (const engine of engines) {
  describe(`the power of access tokens, on ${engine}`, () => {
    let product: TestProduct
    let idp: HostileIdp
    let owner: Person
    let count = 0

    before(async () => {
      idp = await hostileIdp({})
      product = await productForTests({ engine })
      owner = await firstOwner(product)
      await command(product, 'org set-plan acme enterprise')
    })
    after(async () => {
      await product[Symbol.asyncDispose]()
      await idp[Symbol.asyncDispose]()
    })

    const unique = (): string => `person${++count}@acme.test`
    const tokenWith = async (permissions: readonly string[], maker: Person | Program = owner) => {
      const issued = await issuedBy(maker, { permissions })
      return { ...issued, program: programWith(product.baseUrl, issued.secret) }
    }

    async function member(role: 'owner' | 'admin' | 'developer' | 'viewer') {
      const email = unique()
      const person = await memberOf(product, 'acme', { email, role })
      const { items } = (await owner.call(`GET ${at}/members?limit=200`)).json
      const { id } = items.find((one: { email: string }) => one.email === email)
      return { email, person, path: `${at}/members/${id}` }
    }

    async function refuses(program: Program, route: string, body: unknown): Promise<void> {
      const reply = await program.call(route, body)
      assert.deepEqual([reply.status, reply.json?.code], [403, 'permission_required'], reply.text)
    }

    async function does(program: Program | Person, route: string, body?: unknown) {
      const reply = await program.call(route, body)
      assert.ok(reply.status < 300, `${route}: ${reply.text}`)
      return reply.json
    }

    async function actions(): Promise<{ action: string; detail: Record<string, unknown> }[]> {
      return (await owner.call(`GET ${at}/audit?limit=50`)).json.items
    }

    describe('a token hands out no role with more power than it has', () => {
      test('by invitation', async () => {
        const { program } = await tokenWith(['members.manage', 'traffic.see'])
        for (const role of ['admin', 'developer', 'owner']) {
          await refuses(program, `POST ${at}/invitations`, { email: unique(), role })
        }
        await does(program, `POST ${at}/invitations`, { email: unique(), role: 'viewer' })
        const wide = await tokenWith(permissionsOf('admin'))
        await does(wide.program, `POST ${at}/invitations`, { email: unique(), role: 'admin' })
        await refuses(wide.program, `POST ${at}/invitations`, { email: unique(), role: 'owner' })
      })

      test('a change of role and state is made whole or not at all', async () => {
        const { program } = await tokenWith(['members.manage'])
        const somebody = await member('admin')
        await does(owner, `PATCH ${somebody.path}`, { active: false })
        await refuses(program, `PATCH ${somebody.path}`, { role: 'viewer', active: true })
        const after = await does(owner, `GET ${somebody.path}`)
        assert.deepEqual([after.role, after.deactivated_at === null], ['admin', false])
      })

      test('by a change of role or a reactivation; taking away needs no more than members.manage', async () => {
        const { program } = await tokenWith(['members.manage'])
        const somebody = await member('developer')
        await refuses(program, `PATCH ${somebody.path}`, { role: 'admin' })
        await does(program, `PATCH ${somebody.path}`, { role: 'viewer' })
        await refuses(program, `PATCH ${somebody.path}`, { role: 'developer' })
        const admin = await member('admin')
        await does(program, `PATCH ${admin.path}`, { active: false })
        await refuses(program, `PATCH ${admin.path}`, { active: true })
        const wide = await tokenWith(permissionsOf('admin'))
        await does(wide.program, `PATCH ${admin.path}`, { active: true })
      })

      test('nor a role that its maker could not give today', async () => {
        const other = await member('owner')
        const { program } = await tokenWith(permissionsOf('owner'), other.person)
        await does(program, `POST ${at}/invitations`, { email: unique(), role: 'owner' })
        await does(owner, `PATCH ${other.path}`, { role: 'admin' })
        await refuses(program, `POST ${at}/invitations`, { email: unique(), role: 'owner' })
        await does(program, `POST ${at}/invitations`, { email: unique(), role: 'admin' })
        await does(owner, `PATCH ${other.path}`, { role: 'developer' })
        await refuses(program, `POST ${at}/invitations`, { email: unique(), role: 'viewer' })
      })

      test('by a group of the directory, at once or once the group comes, nor by a file', async () => {
        const scim = (await does(owner, `POST ${at}/directory/tokens`, { name: 'scim' })).secret
        const body = { schemas: [groupUrn], displayName: 'Ops', members: [] }
        const made = await scimCall(`${product.baseUrl}/scim/v2/Groups`, 'POST', {
          token: scim,
          body,
        })
        const role = `PUT ${at}/directory/groups/${String(made.body.id)}/role`
        const { program } = await tokenWith(['sso.manage', 'traffic.see'])
        await refuses(program, role, { role: 'admin' })
        await does(program, role, { role: 'viewer' })
        for (const group of ['Ops', 'Not there yet']) {
          const file = `version: 1\norganization:\n  slug: acme\ngroups:\n  ${group}:\n    role: admin\n`
          const more = await tokenWith(['sso.manage', 'traffic.see', 'organization.manage'])
          await refuses(more.program, `POST ${at}/configuration/apply`, { file, label: 'a.yaml' })
        }
      })

      test('by the groups of a connection that it saves', async () => {
        const { program } = await tokenWith(['sso.manage', 'traffic.see'])
        const client = { issuer: idp.issuerOf('honest'), client_id: 'c', client_secret: 's' }
        const group_roles = [{ group: 'ops', role: 'admin' }]
        await refuses(program, `POST ${at}/connections`, { ...client, group_roles })
        const made = await does(program, `POST ${at}/connections`, client)
        const path = `${at}/connections/${made.id}`
        await refuses(program, `PATCH ${path}`, { group_roles })
        await does(owner, `PATCH ${path}`, { group_roles })
        // The groups would keep their roles, but the connection would use an OAuth client that the token chose.
        await refuses(program, `PATCH ${path}`, { client_id: 'mine', client_secret: 's' })
        await does(program, `POST ${path}/disable`)
        await refuses(program, `POST ${path}/enable`, undefined)
        await does(owner, `DELETE ${path}`)
      })

      test('by a directory whose groups give a role that the token has not', async () => {
        const scim = (await does(owner, `POST ${at}/directory/tokens`, { name: 'scim' })).secret
        const made = await scimCall(`${product.baseUrl}/scim/v2/Groups`, 'POST', {
          token: scim,
          body: { schemas: [groupUrn], displayName: 'Admins', members: [] },
        })
        const role = `PUT ${at}/directory/groups/${String(made.body.id)}/role`
        const { program } = await tokenWith(['sso.manage'])
        await does(owner, role, { role: 'admin' })
        await refuses(program, `POST ${at}/directory/tokens`, { name: 'mine' })
        await does(owner, role, { role: null })
        await does(program, `POST ${at}/directory/tokens`, { name: 'mine' })
      })
    })

    describe('a token that a token issued', () => {
      test('ends with the one that issued it, however far down', async () => {
        const first = await tokenWith(['tokens.manage', 'traffic.see'])
        const second = await tokenWith(['traffic.see'], first.program)
        // Only an issuer who may manage owners can give a token the permission tokens.manage.
        await refuses(first.program, `POST ${at}/access-tokens`, {
          name: 'deeper',
          permissions: ['tokens.manage'],
        })
        await does(second.program, `GET ${at}/attention`)
        const gone = await does(owner, `POST ${at}/access-tokens/${first.id}/revoke`)
        assert.equal(gone.access_token.state, 'revoked')
        const refused = await second.program.call(`GET ${at}`)
        assert.equal(refused.json.code, 'credential_revoked')
        const ended = (await actions()).filter(({ action }) => action === 'access_token.revoked')
        assert.equal(ended.length, 2)
      })

      test('never lasts longer than the one that issued it', async () => {
        const inAWeek = new Date(product.clock.now() + 7 * 86_400_000).toISOString()
        const parent = await issuedBy(owner, {
          permissions: ['tokens.manage', 'owners.manage', 'traffic.see'],
          expires_at: inAWeek,
        })
        const program = programWith(product.baseUrl, parent.secret)
        for (const expires_at of [null, new Date(Date.parse(inAWeek) + 1000).toISOString()]) {
          await refuses(program, `POST ${at}/access-tokens`, { name: 'longer', expires_at })
        }
        const child = await does(program, `POST ${at}/access-tokens`, { name: 'child' })
        assert.equal(child.access_token.expires_at, inAWeek)
      })

      test('whoever was demoted between being let in and the issue gives nothing that is gone', async () => {
        const { program, id } = await tokenWith(['tokens.manage', 'traffic.see'])
        const [one, two] = await Promise.all([
          program.call(`POST ${at}/access-tokens`, { name: 'raced' }),
          owner.call(`POST ${at}/access-tokens/${id}/revoke`),
        ])
        assert.equal(two.status, 200)
        if (one.status !== 201) return
        const raced = programWith(product.baseUrl, one.json.secret)
        assert.equal((await raced.call(`GET ${at}`)).json.code, 'credential_revoked')
      })
    })

    test('the invitations that a token made are withdrawn with it', async () => {
      const { program, id } = await tokenWith(['members.manage', 'traffic.see'])
      const email = unique()
      const made = await does(program, `POST ${at}/invitations`, { email, role: 'viewer' })
      await does(owner, `POST ${at}/access-tokens/${id}/revoke`)
      const { items } = await does(owner, `GET ${at}/invitations`)
      const one = items.find(({ id }: { id: string }) => id === made.invitation.id)
      assert.equal(one.state, 'revoked')
    })

    test('tokens of a member are suspended by deactivation and come back as they were', async () => {
      const admin = await member('admin')
      const { program } = await tokenWith(['audit.see'], admin.person)
      await does(program, `GET ${at}/audit`)
      await does(owner, `PATCH ${admin.path}`, { active: false })
      assert.equal((await program.call(`GET ${at}/audit`)).json.code, 'credential_revoked')
      await does(owner, `PATCH ${admin.path}`, { active: true })
      await does(program, `GET ${at}/audit`)
    })

    test('tokens of a removed member are revoked for good: they do not return with the person', async () => {
      const admin = await member('admin')
      const { program, id } = await tokenWith(['audit.see'], admin.person)
      await does(program, `GET ${at}/audit`)
      await does(owner, `DELETE ${admin.path}`)
      const [removed] = (await actions()).filter(({ action }) => action === 'member.removed')
      assert.equal(removed?.detail['access_tokens'], 1)
      await command(product, `member add acme ${admin.email} --role admin`)
      assert.equal((await program.call(`GET ${at}/audit`)).json.code, 'credential_revoked')
      const { state } = await does(owner, `GET ${at}/access-tokens/${id}`)
      assert.equal(state, 'revoked')
    })

    test('a directory token says when the one who issued it can issue none any more', async () => {
      const admin = await member('admin')
      const { token, secret } = await does(admin.person, `POST ${at}/directory/tokens`, {
        name: 'of a leaver',
      })
      await does(owner, `DELETE ${admin.path}`)
      // The directory keeps working: if it stopped, people who leave the company would keep their access.
      const body = { schemas: [userUrn], userName: unique(), active: true }
      const users = `${product.baseUrl}/scim/v2/Users`
      assert.equal((await scimCall(users, 'POST', { token: secret, body })).status, 201)
      const { items } = await does(owner, `GET ${at}/directory/tokens`)
      const shown = items.find(({ id }: { id: string }) => id === token.id)
      assert.equal(shown.issuer_left, true)
      const { items: waiting } = await does(owner, `GET ${at}/attention`)
      const item = waiting.find(({ subject_id }: { subject_id: string }) => subject_id === token.id)
      assert.equal(item?.kind, 'scim_token_issuer_left')
    })
  })
}
