import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailForTests } from '../harness/mail.ts'
import { firstOwner, personWith, sessionOf } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { atGithub, Jar, signInProductForTests } from '../harness/sign-in.ts'

test('an invitation goes out by mail where a mail server is set, and its text cannot be bent by names', async () => {
  await using mail = await mailForTests()
  await using product = await productForTests({ settings: { SMTP_URL: mail.url } })
  const owner = await firstOwner(product)
  await owner.call('PATCH /organizations/acme', { name: 'Acme\r\nBcc: evil@x.test' })
  const invited = await owner.call('POST /organizations/acme/invitations', {
    email: 'ada@corp.test',
    role: 'developer',
  })
  assert.equal(invited.json.mailed, true)
  const received = await mail.mailTo('ada@corp.test')
  assert.deepEqual(received.to, ['ada@corp.test'])
  // Decodes quoted-printable: joins soft line breaks and decodes "=3D".
  const text = received.raw.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
  assert.ok(text.includes(invited.json.link))
  assert.ok(!/^Bcc:/im.test(received.raw))
})

test('an invitation whose mail cannot be sent is made all the same, and says so', async () => {
  await using product = await productForTests({ settings: { SMTP_URL: 'smtp://127.0.0.1:1' } })
  const owner = await firstOwner(product)
  const invited = await owner.call('POST /organizations/acme/invitations', {
    email: 'ada@corp.test',
    role: 'developer',
  })
  assert.equal(invited.status, 201)
  assert.equal(invited.json.mailed, false)
  assert.ok(invited.json.link.startsWith(`${product.baseUrl}/invitations/`))
})

test('a withdrawn or replaced invitation leads nowhere, and only owners invite owners', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const invite = async (role: string) =>
    await owner.call('POST /organizations/acme/invitations', { email: 'ada@corp.test', role })
  const look = async (link: string) =>
    await personWith(product.baseUrl).call('POST /invitations/look', {
      token: link.split('/').at(-1),
    })
  const first = await invite('viewer')
  assert.equal((await look(first.json.link)).json.organization.slug, 'acme')
  const second = await invite('owner')
  assert.equal((await look(first.json.link)).json.code, 'invitation_invalid')
  const id = second.json.invitation.id
  assert.equal((await owner.call(`DELETE /organizations/acme/invitations/${id}`)).status, 204)
  assert.equal((await look(second.json.link)).json.code, 'invitation_invalid')
  const listed = await owner.call('GET /organizations/acme/invitations')
  const states = listed.json.items.map((one: { state: string }) => one.state)
  assert.deepEqual(states, ['revoked', 'revoked'])
})

test('where sign-up is open, a verified stranger gets an account and may make an organization', async () => {
  await using parts = await signInProductForTests({ settings: { SIGN_UP: 'open' } })
  const jar = new Jar()
  const landed = await jar.fetch(await atGithub(jar, parts, 'ada'))
  const ada = personWith(parts.product.baseUrl, sessionOf(landed.headers))
  const me = await ada.call('GET /me')
  assert.deepEqual(me.json.organizations, [])
  const made = await ada.call('POST /organizations', { slug: 'own', name: 'Own' })
  assert.equal(made.status, 201, made.text)
  assert.equal((await ada.call('GET /organizations/own')).status, 200)
  const mallory = new Jar()
  const refused = await mallory.fetch(await atGithub(mallory, parts, 'mallory'))
  assert.equal(refused.headers.get('intercept-refused'), 'email_not_verified')
})

test('where sign-up is by invitation, nobody makes organizations but the operator', async () => {
  await using product = await productForTests()
  const owner = await firstOwner(product)
  const made = await owner.call('POST /organizations', { slug: 'second' })
  assert.equal(made.status, 403)
})
