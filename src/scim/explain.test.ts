import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem, problems } from '../errors.ts'
import { asStorageProblem } from '../store/index.ts'
import { createExplain } from './explain.ts'
import { codesOfStatus } from './protocol/errors.ts'

test('says when to come again where the database does not answer, and which headers else a refusal has', () => {
  const explain = createExplain(asStorageProblem)
  const gone = explain(Object.assign(new Error('terminated'), { code: '57P01' }))
  assert.deepEqual([gone.status, gone.headers], [503, { 'Retry-After': '1' }])
  const refused = explain(
    new Problem('rate_limited', undefined, { headers: { 'Retry-After': '7' } }),
  )
  assert.deepEqual([refused.status, refused.headers], [429, { 'Retry-After': '7' }])
})

test('the code of each refusal by SCIM has the status of the refusal', () => {
  for (const [status, code] of Object.entries(codesOfStatus)) {
    assert.equal(String(problems[code].status), status, code)
  }
})
