import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, Server, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { LateChecks } from './late-checks.ts'

type Checked = Server & { connectionsCheckingInterval?: number }

test('the checks run only while there are connections', () => {
  const server = new Server()
  const intervals: unknown[] = []
  server.on('listening', function setupConnectionsTracking(this: Checked) {
    intervals.push(this.connectionsCheckingInterval)
  })
  const checks = new LateChecks(server)
  server.emit('listening')
  checks.opened()
  checks.opened()
  checks.closed()
  checks.rest()
  assert.deepEqual(intervals, [2 ** 31 - 1, 2000])
  checks.closed()
  checks.rest()
  checks.rest()
  assert.deepEqual(intervals.slice(2), [2 ** 31 - 1])
  checks.opened()
  assert.deepEqual(intervals.slice(3), [2000])
})

test('a caller whose head does not come is refused by node:http, although its checks rested before', async () => {
  const server = createServer({ headersTimeout: 10 }, () => undefined)
  const checks = new LateChecks(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    server.on('connection', () => checks.opened())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    let said = ''
    socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n')
    await once(socket, 'close')
    assert.match(said, /^HTTP\/1.1 408 /)
  } finally {
    server.close()
  }
})
