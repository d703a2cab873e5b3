import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCapture } from '../src/gateway/capture.ts'
import { ScimError } from '../src/scim/protocol/errors.ts'
import { parseFilter } from '../src/scim/filter/filter.ts'
import { parseJson } from '../src/scim/protocol/json.ts'
import { userType } from '../src/scim/schema/schema-group.ts'
import { createClientAddresses } from '../src/http/server/client-address.ts'
import { readingsOf } from '../src/targets/path.ts'
import { compileRule, decide } from '../src/targets/rules.ts'
import { parseRule } from '../src/targets/rule-text.ts'
import { startSteps } from './harness/steps.ts'

const steps = await startSteps()

/** Wraps work so that a refusal by SCIM does not fail the test, because a refused text costs steps too. */
function answered(work: () => unknown): () => void {
  return () => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof ScimError)) throw error
    }
  }
}

/** Checks that twice the input takes about twice the steps; a quadratic parser would take four times as many. */
async function assertLinear(
  folder: string,
  source: (length: number) => string,
  work: (text: string) => unknown,
): Promise<void> {
  const [once, twice] = [source(4000), source(8000)]
  // A first run, not counted: it compiles the code and initializes whatever is initialized only once.
  await steps.of(
    folder,
    answered(() => work(source(10))),
  )
  const first = await steps.of(
    folder,
    answered(() => work(once)),
  )
  const second = await steps.of(
    folder,
    answered(() => work(twice)),
  )
  assert.ok(first > 0, 'nothing was counted')
  assert.ok(second <= 2.5 * first + 1000, `${first} steps, and ${second} for twice as much`)
}

const hostileFilters: Readonly<Record<string, string>> = {
  parentheses: '(',
  negations: 'not (',
  'value paths': 'emails[',
  terms: 'title pr and ',
  comparisons: 'title eq "x" or ',
  spaces: ' ',
  'a long word': 'a',
  'a long urn': 'urn:',
  'a long text': 'title eq "x',
  'escaped quotes': 'title eq "\\"',
}

describe('how the work grows with hostile input, in steps', () => {
  for (const [what, unit] of Object.entries(hostileFilters)) {
    const of = (length: number): string => unit.repeat(length)
    test(`a filter of ${what} takes steps as it is long, and few beyond the limits`, async () => {
      await assertLinear('src/scim', of, (text) =>
        parseFilter(text, userType, { depth: 16, characters: Infinity }),
      )
      const huge = of(200_000)
      const taken = await steps.of(
        'src/scim',
        answered(() => parseFilter(huge, userType)),
      )
      assert.ok(taken < 100, `${taken} steps for ${huge.length} characters`)
    })
  }

  test('what fits into a filter is refused or read in few steps', async () => {
    for (const [what, unit] of Object.entries(hostileFilters)) {
      const text = unit.repeat(2048 / unit.length)
      const work = answered(() => parseFilter(text, userType))
      const taken = await steps.of('src/scim', work)
      assert.ok(taken < 50_000, `${what}: ${taken} steps`)
    }
  })

  const hostileJson: Readonly<Record<string, (length: number) => string>> = {
    lists: (length) => '['.repeat(length),
    objects: (length) => '{"a":'.repeat(length),
    items: (length) => `[${'1,'.repeat(length)}1]`,
    members: (length) => `[${'{"a":1},'.repeat(length)}1]`,
    escapes: (length) => `["${'\\"'.repeat(length)}"]`,
    space: (length) => `[${' '.repeat(length)}1]`,
    digits: (length) => '1'.repeat(length),
    'an open text': (length) => `"${'x'.repeat(length)}`,
  }
  for (const [what, source] of Object.entries(hostileJson)) {
    test(`a body of ${what} takes steps as it is long`, async () => {
      await assertLinear('src/scim', source, parseJson)
    })
  }

  test('100,000 levels are refused after those that are allowed', async () => {
    for (const unit of ['[', '{"a":']) {
      const text = unit.repeat(100_000)
      const taken = await steps.of(
        'src/scim',
        answered(() => parseJson(text)),
      )
      assert.ok(taken < 5000, `${taken} steps`)
    }
  })

  for (const pattern of ['/*a*a*a*a*a*a*b/c', '/*a*/*a*/b', '/a*a*a*a*a*b*']) {
    test(`the rule ${pattern} takes steps as the path is long`, async () => {
      const rule = compileRule('one', parseRule(`deny * ${pattern}`))
      await assertLinear('src/targets', (length) => `/${'a'.repeat(length)}/c`, rule.matches)
    })
  }

  test('many rules as long as they may be take steps as the path and the rules are long', async () => {
    const text = 'a'.repeat(400)
    for (const pattern of [
      `/*${text}b*/c`,
      `/*b${text}*/c`,
      `/*${text}b/c`,
      `/*${text.slice(1)}b*`,
    ]) {
      const rules = Array.from({ length: 20 }, (_, at) =>
        compileRule(`rul_${at}`, parseRule(`deny * ${pattern}`)),
      )
      const path = `/${'a'.repeat(2000)}%25/c/`
      const work = answered(() => decide({ rules, otherwise: undefined }, 'GET', readingsOf(path)))
      const taken = await steps.of('src/targets', work)
      assert.ok(taken < 20 * 8 * 6 * 2000, `${pattern.slice(0, 5)}: ${taken} steps`)
    }
  })

  for (const trusted of [
    { kind: 'count', count: 2 },
    { kind: 'ranges', ranges: ['10.0.0.0/8'] },
  ] as const) {
    test(`of a long X-Forwarded-For only what trusted proxies appended is read (${trusted.kind})`, async () => {
      const { of } = createClientAddresses(trusted)
      const forwarded = `${'::,'.repeat(5000)} 203.0.113.5, 10.0.0.2`
      assert.equal(of('10.0.0.1', forwarded), '203.0.113.5')
      const taken = await steps.of(
        'src/http',
        answered(() => of('10.0.0.1', forwarded)),
      )
      assert.ok(taken < 100, `${taken} steps`)
    })
  }

  for (const unit of [
    '"',
    '\\',
    '"a":',
    '{"password":',
    '&password',
    'name="password"\r\n',
    '\\"',
    '[',
    'a=',
  ]) {
    test(`a body of ${JSON.stringify(unit)} is blacked out in steps as it is long`, async () => {
      await assertLinear(
        'src/gateway',
        (length) => unit.repeat(length / unit.length),
        (text) => {
          const settings = { headers: [], bodyBytes: text.length, redact: ['password'] }
          const capture = createCapture([], settings)
          capture?.request(Buffer.from(text))
          return capture?.text()
        },
      )
    })
  }
})
