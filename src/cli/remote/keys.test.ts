import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect } from './connection.ts'
import { remoteKeys } from './keys.ts'

test('an edit over the API is refused if somebody changed the key after it was read', async () => {
  const narrowed = { id: 'key_1', name: 'ci', grants: [{ target: 'echo' }], version: 2 }
  const detail = 'Key key_1 was changed in the meantime.'
  const server = createServer((request, response) => {
    const isStale = request.method === 'PUT' && request.headers['if-match'] === '"1"'
    response.statusCode = isStale ? 412 : 200
    request.resume().on('end', () => {
      response.end(JSON.stringify(isStale ? { code: 'version_conflict', detail } : narrowed))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const remote = connect(`http://127.0.0.1:${port}`, { token: 'x', organization: 'acme' })
    const edit = { input: { name: 'renamed' }, actor: { kind: 'operator' }, expectedVersion: 1 }
    await assert.rejects(
      remoteKeys(remote).edit('org_1', 'key_1', edit as never),
      (error: { code?: string }) => error.code === 'version_conflict',
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
