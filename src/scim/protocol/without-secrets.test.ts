import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathWithoutSecrets, withoutSecrets } from './without-secrets.ts'

const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
const bodies: readonly unknown[] = [
  { userName: 'ada', password: 'hunter2' },
  { Operations: [{ op: 'replace', path: 'password', value: 'hunter2' }] },
  { Operations: [{ op: 'replace', path: `${user}:password`, value: 'hunter2' }] },
  { Operations: [{ op: 'replace', value: { password: 'hunter2' } }] },
  { Operations: [{ op: 'replace', value: { [`${user}:password`]: 'hunter2' } }] },
]

test('no way of sending a password reaches the request log', () => {
  for (const body of bodies) {
    const kept = withoutSecrets(Buffer.from(JSON.stringify(body))) ?? ''
    assert.ok(!kept.includes('hunter2'), kept)
    assert.ok(kept.includes('(dropped)'), kept)
  }
  assert.match(withoutSecrets(Buffer.from('{"userName":"ada"}')) ?? '', /ada/)
})

test('no secret of a query reaches the request log; filters do', () => {
  for (const path of [
    '/Users?token=hunter2',
    '/Users?filter=password%20eq%20%22hunter2%22',
    '/Users?x=svc_scim_hunter2',
  ]) {
    assert.ok(!pathWithoutSecrets(path).includes('hunter2'), path)
  }
  assert.equal(
    pathWithoutSecrets('/Users?filter=userName%20eq%20%22ada%22&count=1'),
    '/Users?filter=userName eq "ada"&count=1',
  )
})
