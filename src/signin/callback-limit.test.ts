import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem, type ProblemCode } from '../errors.ts'
import { createCallbackLimit } from './callback-limit.ts'

const failures = { calls: 20, perSeconds: 1, burst: 100 }

function limitForTests(rate: typeof failures | undefined = failures) {
  const at = { ms: 0 }
  const clock = { now: () => at.ms, monotonic: () => at.ms }
  const limit = createCallbackLimit({ clock, failures: rate })
  let costs = 0
  const end = async (address: string, how: 'good' | ProblemCode | 'no transaction') => {
    try {
      return await limit.watch(
        address,
        () => {
          if (how === 'no transaction') throw new Problem('callback_invalid')
        },
        async () => {
          costs++
          if (how === 'good' || how === 'no transaction') return how
          throw new Problem(how)
        },
      )
    } catch (error) {
      return (error as Problem).code
    }
  }
  return { end, costs: () => costs, at }
}

test('a source whose sign-ins fail is told so a hundred times, then 429, and costs little more', async () => {
  const { end, costs, at } = limitForTests()
  const answers: string[] = []
  for (let n = 0; n < 1000; n++) answers.push(await end('192.0.2.1', 'idp_token_refused'))
  assert.ok(answers.slice(0, 100).every((code) => code === 'idp_token_refused'))
  assert.ok(answers.slice(100).every((code) => code === 'rate_limited'))
  assert.equal(costs(), 120)
  assert.equal(await end('192.0.2.2', 'callback_invalid'), 'callback_invalid')
  at.ms += 10_000
  assert.equal(await end('192.0.2.1', 'callback_invalid'), 'callback_invalid')
})

test('a company behind one address signs in as often as it likes, also beside somebody who floods it', async () => {
  const { end } = limitForTests()
  for (let n = 0; n < 1000; n++) assert.equal(await end('192.0.2.1', 'good'), 'good')
  for (let n = 0; n < 1000; n++) await end('192.0.2.1', 'no transaction')
  assert.equal(await end('192.0.2.1', 'no transaction'), 'rate_limited')
  assert.equal(await end('192.0.2.1', 'good'), 'good')
})

test('a database that is away, and a limit that is off, count nothing against anybody', async () => {
  const { end } = limitForTests()
  for (let n = 0; n < 200; n++) await end('192.0.2.1', 'storage_unavailable')
  assert.equal(await end('192.0.2.1', 'callback_invalid'), 'callback_invalid')
  const off = createCallbackLimit({
    clock: { now: () => 0, monotonic: () => 0 },
    failures: undefined,
  })
  for (let n = 0; n < 200; n++) {
    const refused = off.watch(
      '192.0.2.1',
      () => {},
      () => Promise.reject(new Problem('not_found')),
    )
    await assert.rejects(refused, { code: 'not_found' })
  }
})
