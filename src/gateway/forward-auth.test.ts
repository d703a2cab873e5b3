import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../errors.ts'
import { readQuestion } from './forward-auth.ts'

function ask(rest: string, ...rawHeaders: string[]) {
  return readQuestion({ rawHeaders, method: 'GET', rest, prefix: '/api/v1/intercept' })
}

test('the target in the query is decoded, however it is written', () => {
  const uri = ['X-Original-URI', '/items/7?full=1']
  for (const [query, slug] of [
    ['?target=api', 'api'],
    ['?target=', ''],
    ['?target=a%70i', 'api'],
    ['?target=a+b', 'a b'],
    ['?x=1&target=api', 'api'],
    ['?target=api&target=other', 'api'],
    ['?target=api?target=other', 'api'],
    ['?target=API', 'API'],
  ] as const) {
    assert.deepEqual(ask(query, ...uri).asked, { slug, path: '/items/7' }, query)
  }
  assert.equal(ask('?other=api').asked, undefined)
  assert.equal(ask('').asked, undefined)
})

test('headers are found in any case, and names that only resemble them are not', () => {
  const asked = { slug: 'api', path: '/items' }
  for (const name of ['x-original-uri', 'X-ORIGINAL-URL', 'X-Forwarded-Uri']) {
    assert.deepEqual(ask('?target=api', 'Accept', '*/*', name, '/items').asked, asked, name)
  }
  for (const name of ['x-original-uris', 'x-original', '8-original-uri', 'x-forwarded-path']) {
    assert.equal(ask('', name, '/items').asked, undefined, name)
  }
  assert.deepEqual(ask('', 'X-Original-URI', '/api', 'X-Original-Method', 'PUT').methods, ['PUT'])
})

test('a question with two different answers is refused, one with the same answer twice is not', () => {
  const twice = ['X-Original-URI', '/api/a', 'X-Forwarded-Uri', '/api/a']
  assert.deepEqual(ask('', ...twice).asked, { slug: 'api', path: '/a' })
  for (const [rest, ...headers] of [
    ['', 'X-Original-URI', '/api/a', 'X-Forwarded-Uri', '/api/b'],
    ['', 'X-Original-URI', '/api/a', 'X-Original-Method', 'GET', 'X-Forwarded-Method', 'PUT'],
    ['/api/a', 'X-Original-URI', '/api/a'],
    ['/api/a', 'X-Original-Method', 'PUT'],
  ] as const) {
    assert.throws(
      () => ask(rest, ...headers),
      (error) => error instanceof Problem && error.code === 'path_ambiguous',
    )
  }
})
