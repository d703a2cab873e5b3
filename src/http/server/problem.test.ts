import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../errors.ts'
import { renderProblem } from './problem.ts'

const context = { requestId: 'req_1', baseUrl: 'https://intercept.example' }

function documentOf(problem: Problem): unknown {
  return JSON.parse(renderProblem(problem, context).body)
}

test('a problem document has its members in one order, whether or not it has members of its own', () => {
  const { body } = renderProblem(new Problem('rate_limited', 'Later.'), context)
  assert.equal(
    body,
    '{"type":"https://intercept.example/problems/rate_limited","title":"Too many calls","status":429,"detail":"Later.","code":"rate_limited","request_id":"req_1"}',
  )
  const members = { rule_id: null, left_out: undefined, errors: [{ field: 'näme' }] }
  const { body: longer } = renderProblem(new Problem('rule_denied', 'No.', { members }), context)
  assert.ok(
    longer.endsWith('"request_id":"req_1","rule_id":null,"errors":[{"field":"n\\u00e4me"}]}'),
  )
  assert.ok(
    renderProblem(new Problem('rule_denied', 'No.', { members: {} }), context).body.endsWith(
      '"req_1"}',
    ),
  )
})

test('whatever a detail holds, the document is ASCII and says it', () => {
  for (const detail of [
    '',
    '"',
    '\\',
    '"quoted\\"',
    'line\r\nline',
    '\0',
    '\u007f',
    '“ä€”',
    '😀',
    '\ud800',
  ]) {
    const { body } = renderProblem(new Problem('bad_request', detail), context)
    assert.match(body, /^[\x20-\x7e]*$/)
    assert.deepEqual(documentOf(new Problem('bad_request', detail)), {
      type: 'https://intercept.example/problems/bad_request',
      ...{ title: 'The request could not be understood', status: 400, detail },
      ...{ code: 'bad_request', request_id: 'req_1' },
    })
  }
})

test('a 401 always has a challenge, and the headers tell the length and the code', () => {
  const { headers, body } = renderProblem(new Problem('credential_invalid'), context)
  const named = new Map(headers.map((text, at) => [text, headers[at + 1]]))
  assert.equal(named.get('WWW-Authenticate'), 'Bearer realm="intercept"')
  assert.equal(named.get('Content-Length'), String(body.length))
  assert.equal(named.get('Intercept-Refused'), 'credential_invalid')
  const own = new Problem('credential_invalid', 'No.', {
    headers: { 'WWW-Authenticate': 'ApiKey' },
  })
  const { headers: challenged } = renderProblem(own, context)
  assert.deepEqual(challenged.slice(-2), ['WWW-Authenticate', 'ApiKey'])
  assert.equal(challenged.filter((text) => text === 'WWW-Authenticate').length, 1)
})
