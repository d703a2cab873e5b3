import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog } from './log.ts'
import { redact } from './redact.ts'

const body = 'k3x9Qa2P_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG000000'
/** Secrets that someone may put into a log line, each with the part that must not appear in the output. */
const canaries = [
  [`svc_live_${body}`, '0123456789'],
  [`sk_live_${body}`, '0123456789'],
  [`svc_scim_${body}`, '0123456789'],
  ['svc_whsec_abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl', 'efghij'],
  ['Bearer canary-canary-canary', 'canary-canary'],
  ['eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ', 'zdWIiOi'],
  ['__Host-session=canarycanarycanary', 'canarycanary'],
  ['postgres://intercept:canary-password@db/intercept', 'canary-password'],
  ['/callback?code=canary-code&state=canary-state', 'canary-'],
] as const

describe('log', () => {
  for (const [text, secret] of canaries) {
    test(`${text.slice(0, 14)}… is in no line, wherever it stands`, () => {
      for (const pretty of [false, true]) {
        const { log, lines } = capture(pretty)
        log.info({ deep: { deeper: [text] }, path: text }, `message ${text}`)
        log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed')
        log.child({ field: text }).warn({}, 'child')
        assert.equal(lines.length, 3)
        assert.ok(!lines.join('').includes(secret), lines.join(''))
      }
    })
  }

  test('a hint and a public id stay readable', () => {
    assert.equal(redact('svc_live_k3x9Qa2P_…x7Qa'), 'svc_live_k3x9Qa2P_…x7Qa')
    assert.equal(redact(`key svc_live_${body} refused`), 'key svc_live_k3x9Qa2P_… refused')
  })

  test('no text can forge a line: each call is one line of JSON', () => {
    const forged = 'a\r\n{"level":"fatal"}\u001B[2J\u2028\u2029\u0085\u009B31m\u007Fb'
    const { log, lines } = capture(false)
    log.info({ agent: forged }, forged)
    const text = lines.join('')
    assert.equal(text.match(/\n/g)?.length, 1)
    assert.doesNotMatch(text.trimEnd(), /[\p{Cc}\u2028\u2029]/u)
    assert.equal((JSON.parse(text) as { agent: string }).agent, forged)
  })

  test('on a terminal control characters are shown, not obeyed', () => {
    const { log, lines } = capture(true)
    log.info({ agent: 'x\u001B[2J\r\ny\u009B31m' }, 'a\nb')
    const text = lines.join('')
    assert.equal(text.match(/\n/g)?.length, 1)
    assert.ok(!text.includes('\u001B[2J') && !text.includes('\u009B'))
  })

  test('an error keeps its stack and its cause for the operator', () => {
    const { log, lines } = capture(false)
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
    assert.match(lines.join(''), /outer.*inner/)
  })

  test('lines below the level are not written', () => {
    const { log, lines } = capture(false, 'warn')
    log.info({}, 'quiet')
    assert.deepEqual(lines, [])
  })
})

function capture(pretty: boolean, level = 'debug') {
  const lines: string[] = []
  const log = createLog({ level, pretty, write: (line) => void lines.push(line) })
  return { log, lines }
}

test('a row that the database refused is not quoted in the log, however deep the error lies', () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', write: (line) => void lines.push(line) })
  const refused = Object.assign(new Error('null value in column "id"'), {
    ...{ severity: 'ERROR', code: '23502', table: 'call' },
    detail: 'Failing row contains (captured body).',
  })
  log.error({ err: refused }, 'refused')
  log.error({ err: new Error('not written', { cause: refused }) }, 'refused below')
  assert.equal(lines.length, 2)
  for (const line of lines) {
    assert.match(line, /null value in column/)
    assert.doesNotMatch(line, /captured body/)
  }
})
