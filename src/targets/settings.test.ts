import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mergeSettings } from './settings.ts'

describe('settings of a target', () => {
  for (const name of ['authorization', 'Authorization', 'X-API-KEY', 'x_api_key', 'Set.Cookie']) {
    test(`capture keeps no credential: ${name} is refused`, () => {
      const capture = { headers: [name], bodyBytes: 0, redact: [] }
      assert.throws(() => mergeSettings({}, { capture }), { code: 'invalid_input' })
    })
  }

  test('names of headers mean the same in every case', () => {
    const capture = { headers: ['X-Trace', 'x-trace', 'Content-Type'], bodyBytes: 0, redact: [] }
    const merged = mergeSettings({}, { capture, answerHeaders: ['Set-Cookie', 'NEL'] })
    assert.deepEqual(merged['capture'], { ...capture, headers: ['x-trace', 'content-type'] })
    assert.deepEqual(merged['answerHeaders'], ['set-cookie', 'nel'])
  })
})
