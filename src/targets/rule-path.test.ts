import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomFrom } from '../../test/harness/random.ts'
import { decode, readingsOf } from './path.ts'
import { writtenPath } from './rule-path.ts'
import { checkRules, parseRule, renderRule } from './rule-text.ts'
import { compileRule, decide, type RuleText } from './rules.ts'

const letters = ['/', '/', 'a', 'b', '.', '-', '~', '"', "'", '&', ':', '%61', '%7e', '%22', '%2f']
const encoded = ['%C3%A9', '%ff', '%3F', '%3b', '%23', '%20', '%25', '%2541', '%252A', '%252e']
const stars = ['*', '%2A', '%2a']

/** Makes the paths of rules; some are refused. */
function* generatedPaths(seed: number, count: number): Generator<string> {
  const random = randomFrom(seed)
  const pieces = [...letters, ...encoded, ...stars]
  for (let left = count; left > 0; left--) {
    const length = Math.floor(random() * 9)
    const chosen = Array.from({ length }, () => pieces[Math.floor(random() * pieces.length)])
    yield `/${chosen.join('')}`
  }
}

function parsed(path: string, effect: string): RuleText | undefined {
  try {
    return parseRule(`${effect} GET ${path}`)
  } catch {
    return undefined
  }
}

function isRefused(rule: RuleText, path: string): boolean {
  const rules = [compileRule('rul_1', rule)]
  const otherwise = rule.effect === 'deny' ? 'allow' : 'refuse'
  return !decide({ rules, otherwise }, 'GET', readingsOf(path)).allowed
}

describe('paths of rules', () => {
  for (const effect of ['allow', 'deny']) {
    test(`whatever path "${effect}" has, the rule survives being saved, shown and read again`, () => {
      let read = 0
      for (const path of generatedPaths(11, 20_000)) {
        const rule = parsed(path, effect)
        if (rule === undefined) continue
        read++
        const line = renderRule(rule)
        assert.deepEqual(parseRule(line), rule, path)
        const saved = checkRules([rule], [])
        assert.deepEqual(saved, [{ id: saved[0]?.id, ...rule }], path)
        assert.deepEqual(checkRules(saved, saved), saved, path)
        assert.match(line, /^[\x21-\x7e]+ GET [\x21-\x7e]+$/)
        assert.equal(decode(rule.path), decode(path), path)
      }
      assert.ok(read > 10_000, `${read} paths`)
    })
  }

  test('a path that was stored decoded is shown as it is written, and matches as before', () => {
    for (const path of generatedPaths(12, 20_000)) {
      if (/%2[5A]/i.test(path)) continue
      const rule = parsed(path, 'allow')
      if (rule === undefined) continue
      const stored = { ...rule, path: decode(path) }
      assert.equal(writtenPath(stored.path), rule.path, path)
      assert.equal(renderRule(stored), renderRule(rule))
    }
  })

  for (const [stored, written] of [
    ['/caf\u00c3\u00a9', '/caf%C3%A9'],
    ['/a?b;c#d e', '/a%3Fb%3Bc%23d%20e'],
    ['/100%', '/100%25'],
    ['/100%/x', '/100%25/x'],
    ['/%2e%2e/*', '/%252e%252e/*'],
    ['/a%0Ab', '/a%250Ab'],
    ['/a%5cb', '/a%255cb'],
  ] as const) {
    test(`${JSON.stringify(stored)}, stored decoded, is shown as ${written}, which is accepted`, () => {
      assert.equal(writtenPath(stored), written)
      assert.equal(parseRule(`deny * ${written}`).path, written)
    })
  }

  for (const [path, written] of [
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/%61dmin%2Fx', '/admin/x'],
    ['/a%2Ab/*', '/a%2Ab/*'],
    ['/a%2541', '/a%2541'],
    ['*', '/*'],
  ] as const) {
    test(`${path} is stored as ${written}`, () => {
      assert.equal(parseRule(`deny GET ${path}`).path, written)
    })
  }

  test('an encoded star is the character and no wildcard, in every place', () => {
    for (const pattern of ['/a/%2A', '/%2A/b', '/x%2A%2a', '/*/%2A', '/%2A/*', '/*a%2Ab*']) {
      const allow = parseRule(`allow GET ${pattern}`)
      const star = pattern.replaceAll('*', 'y')
      assert.equal(isRefused(allow, star), false, star)
      assert.equal(isRefused(allow, decode(star)), false, star)
      assert.equal(isRefused(allow, star.replaceAll(/%2a/gi, 'other')), true, star)
      const deny = parseRule(`deny GET ${pattern}`)
      assert.equal(isRefused(deny, star), true, star)
      assert.equal(isRefused(deny, star.replaceAll(/%2a/gi, 'other')), false, star)
    }
  })

  test('an encoded percent sign is decoded once: a rule holds for the path that it names', () => {
    assert.equal(isRefused(parseRule('allow GET /a%2541'), '/a%2541'), false)
    assert.equal(isRefused(parseRule('allow GET /a%2541'), '/aA'), true)
    assert.equal(isRefused(parseRule('deny GET /%252e%252e/*'), '/%252e%252e/x'), true)
  })

  for (const [stored, path] of [
    ['/a%5cb', '/a%255Cb'],
    ['/a%0Ab', '/a%250ab'],
    ['/%255cx/%41', '/%25255cx/%2541'],
    ['/a%2fb/*', '/a%252Fb/c'],
  ] as const) {
    test(`a deny rule stored decoded as ${stored} refuses ${path}, and so does the rule that is shown`, () => {
      const rule = { effect: 'deny', methods: [], path: stored, trial: false } as const
      assert.equal(isRefused(rule, path), true)
      assert.equal(isRefused(parseRule(renderRule(rule)), path), true)
    })
  }

  test('a deny rule refuses what an upstream that decodes twice takes for its path, an allow rule does not allow it', () => {
    for (const path of ['/a%252fb', '/a%252Fb', '/a/b', '/a%2Fb']) {
      assert.equal(isRefused(parseRule('deny GET /a%252fb'), path), true, path)
    }
    assert.equal(isRefused(parseRule('allow GET /a%252fb'), '/a%252Fb'), true)
    assert.equal(isRefused(parseRule('deny GET /a%252A'), '/a%252a'), true)
    assert.equal(isRefused(parseRule('deny GET /a%252A'), '/ab'), false)
  })

  test('an encoded slash at the end of a deny rule is left out as a slash is', () => {
    assert.equal(isRefused(parseRule('deny GET /secret%2F'), '/secret'), true)
    assert.equal(isRefused(parseRule('deny GET /secret%2F'), '/secret%2F'), true)
  })
})
