import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'
import { Connections } from './connections.ts'

test('a library that could not be loaded is loaded again for the next request', async () => {
  let isOutOfFiles = true
  const hooks = registerHooks({
    resolve(name, context, next) {
      if (name === 'undici' && isOutOfFiles) throw new Error('too many open files')
      return next(name, context)
    },
  })
  const connections = new Connections(async () => {
    throw new Error('not used here')
  }, 1)
  try {
    await assert.rejects(connections.lend(), /too many open files/)
    isOutOfFiles = false
    using lent = await connections.lend()
    assert.ok(lent.agent)
  } finally {
    hooks.deregister()
    await connections.close()
  }
})
