import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { connect, type Remote } from './connection.ts'
import { remoteKeys } from './keys.ts'
import { remoteTargets } from './targets.ts'

const timeouts = { connect_ms: 1, first_byte_ms: 2, idle_ms: 3 }
const target = { id: 'tgt_1', slug: 'echo', rules: [], capture: {}, timeouts, version: 1 }

describe('an edit over the API, of what somebody changed after it was read,', () => {
  test('is refused for a key, whose fields are sent as a whole', async () => {
    const edit = { input: { name: 'renamed' }, actor: { kind: 'operator' }, expectedVersion: 1 }
    await onServer(async (remote) => {
      await assert.rejects(remoteKeys(remote).edit('org_1', 'key_1', edit as never), isConflict)
    })
  })

  test('is refused for a time-out of a target, because all are sent', async () => {
    await onServer(async (remote) => {
      const which = { organizationId: 'org_1', idOrSlug: 'echo' } as never
      const { edit } = remoteTargets(remote)
      await assert.rejects(edit(which, { settings: { idleMs: 9 } }), isConflict)
    })
  })
})

function isConflict(error: { readonly code?: string }): boolean {
  return error.code === 'version_conflict'
}

/** Runs a function with a server that refuses every edit of version 1. */
async function onServer(work: (remote: Remote) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    const isStale = request.method !== 'GET' && request.headers['if-match'] === '"1"'
    response.statusCode = isStale ? 412 : 200
    const conflict = { code: 'version_conflict', detail: 'It was changed in the meantime.' }
    request.resume().on('end', () => response.end(JSON.stringify(isStale ? conflict : target)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const { port } = server.address() as AddressInfo
    await work(connect(`http://127.0.0.1:${port}`, { token: 'x', organization: 'acme' }))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
