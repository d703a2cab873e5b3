import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { decode, pathAmbiguity, plainReading, readingsOf } from './path.ts'

const dots = [
  '.',
  '..',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%2e.',
  '..;',
  '..;x=1',
  '.;',
  '%2e%2e;a',
  '..%3b',
  '..%3Bx',
]
const always = [
  ...dots.flatMap((segment) => [`/${segment}`, `/a/${segment}`, `/a/${segment}/b`, `/${segment}/`]),
  '/a\\b',
  '/a%5cb',
  '/a%5Cb',
  '/%00',
  '/a%0d%0ab',
  '/a%7f',
  '/a%1F',
  '/\u00e9',
  '/a b',
  '/a\tb',
  '/\u007f',
  '/%',
  '/%2',
  '/%zz',
  '/a%',
  '/a#b',
  'a',
  '',
  '*',
  'http://x/',
]
const verbatimOnly = ['//', '//a', '/a//b', '/a//', '/a%2fb', '/a%2Fb', '/%2F', '/;x', '/a/;x/b']
const legal = [
  '/',
  '/a',
  '/a/',
  '/a.b/..c/c..',
  '/...',
  '/a;x=1/b',
  '/%20',
  '/%25',
  '/%252e%252e',
  '/%C3%A9',
  '/a+b',
  '/a:b@c',
  "/!$&'()*+,=",
  '/~user',
  '/%61dmin',
  '/a%3Bb',
  '/.well-known/x',
  '/..a',
]

describe('paths', () => {
  for (const path of always) {
    test(`${JSON.stringify(path)} is ambiguous for every target`, () => {
      assert.notEqual(pathAmbiguity(path, 'canonical'), undefined)
      assert.notEqual(pathAmbiguity(path, 'verbatim'), undefined)
    })
  }
  for (const path of verbatimOnly) {
    test(`${path} passes for verbatim targets only`, () => {
      assert.notEqual(pathAmbiguity(path, 'canonical'), undefined)
      assert.equal(pathAmbiguity(path, 'verbatim'), undefined)
    })
  }
  for (const path of legal) {
    test(`${path} is legal`, () => {
      assert.equal(pathAmbiguity(path, 'canonical'), undefined)
    })
  }

  for (const path of [
    '/a/..%2f',
    '/a%2f..',
    '/a%2f..%2fb',
    '/..%2Fa',
    '/%2e%2e%2fa',
    '/a%2f.;x%2fb',
  ]) {
    test(`${path}: a dot segment stays refused behind an encoded slash of a verbatim target`, () => {
      assert.notEqual(pathAmbiguity(path, 'verbatim'), undefined)
    })
  }

  test('no reading of a canonical path has a parent, an empty or a control-character segment', () => {
    const piece = fc.constantFrom(
      '.',
      '..',
      '%2e',
      '%2F',
      '/',
      ';',
      '%5c',
      'a',
      '%61',
      '%00',
      '%',
      '\\',
      '2',
      'f',
      'é',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const path = `/${pieces.join('')}`
        if (pathAmbiguity(path, 'canonical') !== undefined) return
        for (const reading of readingsOf(path).usual) {
          const segments = reading.split('/').slice(1, -1)
          assert.ok(!segments.some((segment) => ['', '.', '..'].includes(segment)), reading)
          assert.doesNotMatch(reading, /[\x00-\x1f\x7f\\]/)
        }
      }),
    )
  })

  test('the short way reads a path as the long one, and only a path that no target refuses', () => {
    const pieces = [
      '/',
      '//',
      '/.',
      '.',
      ';',
      '%',
      '%2f',
      '%41',
      '\\',
      '#',
      '?',
      'a',
      '-',
      '*',
      'é',
      ' ',
      '\0',
    ]
    const path = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((list) => list.join(''))
    let plain = 0
    fc.assert(
      fc.property(
        fc.oneof(
          path,
          path.map((rest) => `/${rest}`),
        ),
        (one) => {
          const reading = plainReading(one)
          if (reading === undefined) return
          plain++
          assert.equal(pathAmbiguity(one, 'canonical'), undefined)
          assert.deepEqual(reading, readingsOf(one))
        },
      ),
      { numRuns: 2000 },
    )
    assert.ok(plain > 100, `${plain} plain paths`)
    for (const one of ['/', '/items/7', '/a-b_c.d/~e']) assert.ok(plainReading(one), one)
    for (const one of ['', 'a', '/a/', '/a//b', '/a;b', '/%41', '/.a', '/é']) {
      assert.equal(plainReading(one), undefined, one)
    }
  })

  test('decoding is done once', () => {
    assert.equal(decode('/%252e'), '/%2e')
  })
})
