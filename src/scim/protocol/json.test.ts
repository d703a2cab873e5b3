import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ScimError } from './errors.ts'
import { parseJson, readJson } from './json.ts'

describe('the JSON reader', () => {
  test('reads every document that JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        const expected: unknown = JSON.parse(text)
        try {
          assert.deepEqual(parseJson(text), expected)
        } catch (error) {
          // Only a forbidden name or character may be refused.
          assert.ok(error instanceof ScimError && /name|U\+0000/.test(error.message))
        }
      }),
    )
  })

  const wrong: Record<string, string | Uint8Array> = {
    'a name twice': '{"a":1,"a":2}',
    'a prototype name': '{"__proto__":{"x":1}}',
    'an escaped prototype name': '{"\\u005f_proto__":{"x":1}}',
    'a constructor deep inside': '{"a":[{"constructor":{"prototype":1}}]}',
    'a lone surrogate': '"\\ud800"',
    'U+0000': '"\\u0000"',
    'invalid UTF-8': Uint8Array.from([0x22, 0xc3, 0x28, 0x22]),
    'a raw control character': '"a\nb"',
    'a trailing comma': '{"a":1,}',
    'a comment': '{} // x',
    'an unquoted name': '{a:1}',
    'a number with a leading zero': '01',
    'not a number': 'NaN',
    nothing: '',
    'two documents': '{}{}',
    'an open list': '[1',
    'an open text': '"a',
    'a wrong escape': '"\\q"',
  }
  for (const [what, source] of Object.entries(wrong)) {
    test(`answers invalidSyntax to ${what}`, () => {
      const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
      assert.throws(() => readJson(bytes), { status: 400, scimType: 'invalidSyntax' })
    })
  }

  test('tells a wrong escape from an escaped character that cannot be stored', () => {
    assert.throws(() => parseJson(String.raw`"\q"`), /wrong escape/)
    for (const escaped of [String.raw`"\u0000"`, String.raw`"\ud800"`]) {
      assert.throws(() => parseJson(escaped), /U\+0000 or a lone surrogate/, escaped)
    }
  })

  // test/steps.test.ts counts the steps that it takes to refuse such nesting.
  test('32 levels pass, 100,000 are refused', () => {
    parseJson(`${'['.repeat(32)}1${']'.repeat(32)}`)
    assert.throws(() => parseJson('['.repeat(100_000)), { scimType: 'invalidSyntax' })
    assert.throws(() => parseJson('{"a":'.repeat(100_000)), { scimType: 'invalidSyntax' })
  })

  test('a body of more values than any directory sends is too large, whatever its length', () => {
    parseJson(`[${'1,'.repeat(90_000)}1]`)
    const tooMany = { status: 413, scimType: 'tooMany' }
    assert.throws(() => parseJson(`[${'1,'.repeat(100_000)}1]`), tooMany)
  })
})
