import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomFrom } from '../../test/harness/random.ts'
import { compilePattern } from './path-pattern.ts'
import { decode, readingsOf } from './path.ts'
import { writtenPath } from './rule-path.ts'
import { parseRule } from './rule-text.ts'
import { compileRule, decide, type LastLine } from './rules.ts'

function ask(lines: readonly string[], method: string, path: string, otherwise?: LastLine) {
  const rules = lines.map((line, at) => compileRule(`rul_${at}`, parseRule(line)))
  return decide({ rules, otherwise }, method, readingsOf(path))
}

describe('rules', () => {
  test('no rules allow everything', () => {
    assert.equal(ask([], 'DELETE', '/x').allowed, true)
  })

  for (const [lines, lastLine] of [
    [[], 'allow'],
    [['deny DELETE /admin/*'], 'allow'],
    [['allow GET /a'], 'refuse'],
    [['deny DELETE /admin/*', 'allow GET /a'], 'refuse'],
    [['trial allow GET /a'], 'allow'],
    [['deny DELETE /admin/*', 'trial allow GET /a'], 'allow'],
    [['allow GET /a', 'trial deny * /b'], 'refuse'],
  ] as const) {
    test(`with ${JSON.stringify(lines)} the last line is ${lastLine}, unless somebody set it`, () => {
      const { allowed, ruleId } = ask(lines, 'GET', '/elsewhere')
      assert.deepEqual([allowed, ruleId], [lastLine === 'allow', undefined])
      assert.equal(ask(lines, 'GET', '/elsewhere', 'allow').allowed, true)
      assert.equal(ask(lines, 'GET', '/elsewhere', 'refuse').allowed, false)
    })
  }

  test('an allow rule refuses what nothing matches', () => {
    assert.deepEqual(ask(['allow GET /a'], 'GET', '/b'), {
      allowed: false,
      ruleId: undefined,
      trialRuleId: undefined,
    })
  })

  test('the first match decides', () => {
    const rules = ['deny DELETE /admin/*', 'allow * /*']
    assert.deepEqual(ask(rules, 'DELETE', '/admin/users').ruleId, 'rul_0')
    assert.equal(ask(rules, 'DELETE', '/admin/users').allowed, false)
    assert.equal(ask(rules, 'GET', '/admin/users').ruleId, 'rul_1')
    assert.equal(ask(rules.toReversed(), 'DELETE', '/admin/users').allowed, true)
  })

  test('a rule on trial only says what it would refuse', () => {
    const verdict = ask(['trial deny * /admin/*', 'allow * /*'], 'GET', '/admin/x')
    assert.deepEqual(verdict, { allowed: true, ruleId: 'rul_1', trialRuleId: 'rul_0' })
  })

  test('a target whose rules are all on trial refuses nothing', () => {
    assert.equal(ask(['trial deny * /admin/*'], 'GET', '/admin/x').allowed, true)
    assert.equal(ask(['trial allow GET /a'], 'GET', '/b').allowed, true)
  })

  for (const path of [
    '/admin',
    '/admin/',
    '/admin/x',
    '/admin/x/y',
    '/%61dmin/x',
    '/admin;a=1/x',
    '/admin;a',
    '/admi%6E',
  ]) {
    test(`"deny /admin/*" covers ${path} however it is spelled`, () => {
      assert.equal(ask(['deny * /admin/*', 'allow * /*'], 'GET', path).allowed, false)
    })
  }
  for (const path of ['/administrator', '/x/admin', '/', '/Admin']) {
    test(`"deny /admin/*" leaves ${path} alone`, () => {
      assert.equal(ask(['deny * /admin/*', 'allow * /*'], 'GET', path).allowed, true)
    })
  }

  test('an allow rule must match every reading of a verbatim path', () => {
    assert.equal(ask(['allow * /public/*'], 'GET', '/public%2Fx').allowed, true)
    assert.equal(ask(['allow * /public'], 'GET', '/public;v=1').allowed, false)
    assert.equal(ask(['deny * /admin/*', 'allow * /*'], 'GET', '//admin/x').allowed, false)
    assert.equal(ask(['deny * /admin/*', 'allow * /*'], 'GET', '/admin%2Fx').allowed, false)
  })

  for (const path of [
    '/secret/',
    '/secret;/',
    '/secret;a=b/',
    '/secret;',
    '/%73ecret/',
    '/%2573ecret',
    '/x/%252e%252e/secret',
    '/secret//',
    '//secret/;x',
    '/secret;x%2Fy',
    '/secret%2F',
    '/secret%3Bx',
    '/secret%3Fx',
    '/secret/%3fx',
    '/secret%23x',
    '/secret%253Fx',
    '/secret;a%3Fb/c',
    '/secret%2500x',
    '/secret%255C',
    '/x%255C..%255Csecret',
    '/x/%252e%252e%253By/secret',
    '/x/..%253b/secret',
    '/x/%252F%252e%252e/secret',
  ]) {
    test(`P-deny: "deny /secret" and "deny /secret/" refuse ${path} whatever the upstream makes of it`, () => {
      assert.equal(ask(['deny * /secret', 'allow * /*'], 'GET', path).allowed, false)
      assert.equal(ask(['deny * /secret/', 'allow * /*'], 'GET', path).allowed, false)
    })
  }

  test('P-deny: "deny /files/*/raw" refuses a name with %2F, which some upstreams take for one segment', () => {
    const rules = ['deny * /files/*/raw', 'allow * /*']
    assert.equal(ask(rules, 'GET', '/files/a%2Fb/raw').allowed, false)
    assert.equal(ask(rules, 'GET', '/files/a/b/raw').allowed, true)
  })

  test('P-deny: case is compared as it is written, and the rarer readings never open anything', () => {
    assert.equal(ask(['deny * /secret', 'allow * /*'], 'GET', '/Secret').allowed, true)
    assert.equal(ask(['allow * /public'], 'GET', '/public/').allowed, false)
    assert.equal(ask(['allow * /public/'], 'GET', '/public/').allowed, true)
    assert.equal(ask(['allow * /public/*'], 'GET', '/x/%252e%252e/public/y').allowed, false)
  })

  test('a star within a segment stays in it, at the end it reaches below', () => {
    assert.equal(ask(['allow * /v*/items/*/name'], 'GET', '/v1/items/7/name').allowed, true)
    assert.equal(ask(['allow * /v*/items/*/name'], 'GET', '/v1/items/7/8/name').allowed, false)
    assert.equal(ask(['allow * /v*/items/*'], 'GET', '/v1/items/7/8').allowed, true)
    assert.equal(ask(['allow * /file*'], 'GET', '/file/a/b').allowed, true)
    assert.equal(ask(['allow * /a*b*'], 'GET', '/axbx/y').allowed, true)
    assert.equal(ask(['allow * /a*b*'], 'GET', '/a/b').allowed, false)
    assert.equal(ask(['deny * /a*b*'], 'GET', '/a/b').allowed, false)
  })

  test('GET covers HEAD, in a deny rule too', () => {
    assert.equal(ask(['deny GET /a', 'allow * /*'], 'HEAD', '/a').allowed, false)
    assert.equal(ask(['allow GET /a'], 'HEAD', '/a').allowed, true)
    assert.equal(ask(['allow HEAD /a'], 'GET', '/a').allowed, false)
  })

  test('every pattern matches what it matches when each star tries every length', () => {
    const random = randomFrom(7)
    const below = (bound: number): number => Math.floor(random() * bound)
    const textOf = (letters: readonly string[], most: number): string =>
      Array.from({ length: below(most) }, () => letters[below(letters.length)]).join('')
    const kinds = [
      { pattern: ['a', 'b', '*', '/'], path: ['a', 'a', 'b', '/'] },
      {
        pattern: ['a', '*', '/', '%C3', '%2A', '%3F', '%25'],
        path: ['a', 'a', '/', '\u00c3', '*', '?', '%'],
      },
    ]
    for (let left = 40_000; left > 0; left--) {
      const letters = kinds[left % 2] ?? assert.fail()
      const pattern = `/${textOf(letters.pattern, 12)}`
      const path = `/${textOf(letters.path, 14)}`
      for (const isWide of [false, true]) {
        const matches = compilePattern(writtenPath(pattern), isWide)
        assert.equal(matches(path), isMatch(pattern, path, isWide), `${pattern} and ${path}`)
      }
    }
  })

  // The work itself is bounded in test/steps.test.ts, which counts the steps.
  test('a pattern of stars is answered on a long path', () => {
    const rules = ['deny * /*a*a*a*a*a*a*b/c', 'allow * /*']
    assert.equal(ask(rules, 'GET', `/${'a'.repeat(8000)}/c`).allowed, true)
    assert.equal(ask(rules, 'GET', `/${'a'.repeat(8000)}b/c`).allowed, false)
  })

  for (const line of [
    'deny',
    'deny GET',
    'block GET /a',
    'deny STEAL /a',
    'deny GET a',
    'deny GET /../a',
    'deny GET /a?b',
    'deny GET /a /b',
    `deny GET /${'*'.repeat(9)}`,
  ]) {
    test(`"${line}" is refused as a rule`, () => {
      assert.throws(() => parseRule(line), { code: 'invalid_input' })
    })
  }
})

/** Whether a pattern matches a path: computed in the simplest way, without regard to running time. */
function isMatch(pattern: string, path: string, isWide: boolean): boolean {
  const joined = (text: string, by: string): string =>
    text
      .split('*')
      .map((part) => decode(part).replaceAll(/[^a-z]/g, '\\$&'))
      .join(by)
  const within = (text: string): string => joined(text, '[^/]*')
  const slash = pattern.lastIndexOf('/')
  const last = pattern.slice(slash, -1)
  const isBelow = pattern.endsWith('/*')
  const source = isBelow
    ? `${within(pattern.slice(0, -2))}(?:/.*)?`
    : pattern.endsWith('*')
      ? `${within(pattern.slice(0, slash))}${isWide ? joined(last, '.*') : within(last)}.*`
      : within(pattern)
  return new RegExp(`^${source}$`, 's').test(path)
}
