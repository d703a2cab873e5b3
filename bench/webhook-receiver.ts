// The receiver for bench/webhooks.ts, in a process of its own; it responds as cheaply as possible and remembers when
// each delivery arrived.
import { createServer, type AddressInfo, type Socket } from 'node:net'

const answer = 'HTTP/1.1 204 No Content\r\n\r\n'
const slowMs = 2000
const headEnd = Buffer.from('\r\n\r\n')
let arrivals: [id: string, at: number][] = []
let count = 0

/**
 * The path selects the behaviour: `/hang` never responds, `/half` never completes its response, `/slow` responds after
 * two seconds, and every other path responds at once.
 */
function respond(socket: Socket, how: string): void {
  if (how === 'hang') return
  if (how === 'half') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
  else if (how === 'slow') setTimeout(() => socket.write(answer), slowMs)
  else socket.write(answer)
}

const server = createServer((socket) => {
  let rest: Buffer = Buffer.alloc(0)
  socket.setNoDelay()
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf(headEnd)
      if (end === -1) return
      const head = rest.toString('latin1', 0, end)
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (rest.length < end + 4 + length) return
      rest = rest.subarray(end + 4 + length)
      const id = /webhook-id: (\S+)/i.exec(head)?.[1] ?? ''
      count += 1
      if (id !== '') arrivals.push([id, performance.timeOrigin + performance.now()])
      respond(socket, /^POST \/(\w*)/.exec(head)?.[1] ?? '')
    }
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port })
})
process.on('message', (message) => {
  if (message === 'count') process.send?.({ count })
  if (message === 'take') {
    process.send?.({ arrivals })
    arrivals = []
    count = 0
  }
})
process.on('disconnect', () => process.exit(0))
