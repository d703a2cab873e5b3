import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neighboursForTests } from '../harness/neighbours.ts'

test('signing out ends the session at the provider too, where the connection says so', async () => {
  await using place = await neighboursForTests()
  const { baseUrl } = place.product
  const out = async () => {
    const claims = { sub: 'leaver', email: 'leaver@acme.test' }
    const came = await place.arrive(place.ours.start, claims)
    assert.equal(came.status, 200, came.text)
    const cookie = `__Host-session=${came.person.cookie}`
    const answer = await came.person.call('POST /auth/logout')
    const after = await fetch(`${baseUrl}/api/v1/me`, { headers: { cookie } })
    assert.equal(after.status, 401)
    return answer
  }
  // Without `ends_provider_session`, the response has no content and so names no address of the provider.
  assert.equal((await out()).status, 204)

  const path = `PATCH /organizations/acme/connections/${place.ours.id}`
  const saved = await place.owner.call(path, { ends_provider_session: true })
  assert.equal(saved.json.ends_provider_session, true, saved.text)
  const ended = await out()
  assert.equal(ended.status, 200)
  const address = new URL(ended.json.provider_logout_url as string)
  assert.equal(`${address.origin}${address.pathname}`, `${place.idp.issuerOf('honest')}/logout`)
  assert.equal(address.searchParams.get('from'), 'here')
  assert.equal(address.searchParams.get('client_id'), 'intercept')
  assert.equal(address.searchParams.get('post_logout_redirect_uri'), `${baseUrl}/sign-in`)
  const [, payload = ''] = (address.searchParams.get('id_token_hint') ?? '').split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }
  assert.equal(claims.sub, 'leaver')
})
