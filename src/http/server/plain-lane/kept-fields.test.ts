import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { heapInUse } from '../../../../test/harness/heap.ts'
import { systemClock } from '../../../clock.ts'
import { nextTurn } from '../../../timers.ts'
import { createFront } from '../front.ts'

test('header lines are not kept for a connection that the standard lane has taken over', async () => {
  const heads: WeakRef<object>[] = []
  const front = createFront({
    baseUrl: 'http://localhost:1',
    gatewayPrefix: '/guarded',
    lane: 'plain',
    clock: systemClock,
    log: { error: () => {} },
    handleApp: (_request, response) => response.end('app'),
    handleGateway: (exchange) => {
      heads.push(new WeakRef(exchange.head))
      exchange.answer(200, ['Content-Length', '2'], 'ok')
    },
  })
  const { port } = await front.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(port, '127.0.0.1')
  for (const path of ['/guarded', '/guarded', '/guarded', '/app']) {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: secret\r\n\r\n`)
    await once(socket, 'data')
  }
  const isShared = heads[1]?.deref() === heads[2]?.deref()
  await nextTurn()
  heapInUse()
  const kept = heads.filter((head) => head.deref() !== undefined)
  socket.destroy()
  await front.drain(500)
  assert.ok(isShared)
  assert.equal(kept.length, 0)
})
