import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { sentenceOf } from './system-error.ts'

test('a port that is taken is said in a sentence', async () => {
  const first = createServer().listen(0, '127.0.0.1')
  await once(first, 'listening')
  const { port } = first.address() as AddressInfo
  const second = createServer().listen(port, '127.0.0.1')
  const [error] = (await once(second, 'error')) as [unknown]
  first.close()
  assert.equal(
    sentenceOf(error),
    `Another program listens at 127.0.0.1:${port}; choose another port (PORT).`,
  )
})

test('a database where nothing listens is said in a sentence, also by a name with two addresses', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const [error] = (await once(connect(port, '127.0.0.1'), 'error')) as [unknown]
  const sentence = `Nothing listens at 127.0.0.1:${port}; start the database, or mend DATABASE_URL.`
  assert.equal(sentenceOf(error), sentence)
  assert.equal(sentenceOf(new AggregateError([error, error])), sentence)
})

test('a file where a folder belongs is said in a sentence; other errors keep their message', () => {
  try {
    mkdirSync(import.meta.filename, { recursive: true })
    assert.fail('a file was taken for a folder')
  } catch (error) {
    assert.equal(sentenceOf(error), `${import.meta.filename} is or crosses a file, not a folder.`)
  }
  assert.equal(sentenceOf(new Error('as it is')), 'as it is')
  assert.equal(sentenceOf('text'), 'text')
})
