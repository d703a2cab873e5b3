import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Server, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { freePort } from './free-port.ts'
import { listenBacklog, stopAccepting } from './stop-accepting.ts'

test('a listener whose queue could not be emptied gets back the limit that it began with', async () => {
  const server = new Server()
  server.listen({ host: '127.0.0.1', port: 0, backlog: listenBacklog })
  await once(server, 'listening')
  const limits: number[] = []
  const { _handle: handle } = server as unknown as { _handle: { listen(backlog: number): number } }
  const listen = handle.listen.bind(handle)
  handle.listen = (backlog) => {
    limits.push(backlog)
    return listen(backlog)
  }
  // Nobody listens on this port, so the listener's own connections fail and it never learns that its queue is empty.
  const elsewhere: AddressInfo = {
    address: '127.0.0.1',
    family: 'IPv4',
    port: await freePort('127.0.0.1'),
  }
  server.address = () => elsewhere
  const closed = Promise.withResolvers<void>()
  const monotonic = (): number => performance.now()
  await stopAccepting(server, { acceptMs: 10_000, monotonic, closed: closed.resolve })
  await closed.promise
  assert.deepEqual(limits, [0, listenBacklog])
})
