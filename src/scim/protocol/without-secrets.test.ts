import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathWithoutSecrets, unreadWithoutSecrets, withoutSecrets } from './without-secrets.ts'

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
    const unread = unreadWithoutSecrets(Buffer.from(JSON.stringify(body))) ?? ''
    for (const kept of [withoutSecrets(body), unread]) {
      assert.ok(!kept.includes('hunter2'), kept)
      assert.ok(kept.includes('(dropped)'), kept)
    }
  }
})

test('the request log keeps a body as it was sent, up to its limit', () => {
  for (const body of [
    {},
    [],
    'a',
    1,
    null,
    [{ a: [1, null, true, 'é"'] }, {}, []],
    { a: { b: [] } },
  ]) {
    const text = JSON.stringify(body)
    assert.equal(withoutSecrets(body), text)
    assert.equal(unreadWithoutSecrets(Buffer.from(text)), text)
  }
  const long = ['x'.repeat(10_000), 'y']
  assert.equal(withoutSecrets(long), JSON.stringify(long).slice(0, 4096))
  assert.equal(unreadWithoutSecrets(Buffer.from('{')), '(not JSON)')
  assert.equal(unreadWithoutSecrets(Buffer.alloc(0)), undefined)
})

test('of a large body only the part that is kept is visited', () => {
  let visited = 0
  const item = Object.defineProperty({}, 'a', { enumerable: true, get: () => ++visited })
  withoutSecrets({ list: Array.from({ length: 100_000 }, () => item) })
  assert.ok(visited < 5000, String(visited))
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  assert.equal(unreadWithoutSecrets(Buffer.from(deep)), '['.repeat(4096))
  assert.equal(unreadWithoutSecrets(Buffer.from(`[${'[],'.repeat(30_000)}1]`))?.length, 22)
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
