import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, start } from './embed.ts'

test('a setting that is no string is refused by its name', async () => {
  const settings = { PORT: 8080, LOG_LEVEL: undefined } as unknown as Record<string, string>
  await assert.rejects(start(settings), (error) => {
    assert.ok(error instanceof ConfigError)
    assert.deepEqual(error.sentences, ['PORT must be a string.'])
    return true
  })
})
