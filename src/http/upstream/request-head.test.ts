import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRequestHead } from '../message/head.ts'
import { renderRequestHead } from './request-head.ts'

test('a head that comes again is rendered alike each time, and anew for a target that injects a header', () => {
  const rawHeaders = ['Host', 'a', 'X-One', '\xe9', 'X-Api-Key', 'secret', 'X-Two', '2', 'TE', 'x']
  const head = readRequestHead(rawHeaders)
  const given = { method: 'GET', path: '/p', host: 'b', rawHeaders, head, own: 'X-Own: 1\r\n' }
  const render = (injectedName: string | undefined): string =>
    renderRequestHead({ ...given, injectedName })
  const whole = 'GET /p HTTP/1.1\r\nHost: b\r\nX-One: \xe9\r\nX-Two: 2\r\nX-Own: 1\r\n'
  for (let time = 0; time < 3; time++) assert.equal(render(undefined), whole)
  for (let time = 0; time < 3; time++) {
    assert.equal(render('x-two'), whole.replace('X-Two: 2\r\n', ''))
  }
  assert.equal(render(undefined), whole)
})
