// The other side of bench/webhooks.ts, in a process of its own: answers as cheaply as possible and remembers when what arrived.
import { createServer, type AddressInfo } from 'node:net'

const answer = 'HTTP/1.1 204 No Content\r\n\r\n'
const headEnd = Buffer.from('\r\n\r\n')
let arrivals: [id: string, at: number][] = []
let count = 0

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
      // A path of /hang never gets an answer.
      if (!head.startsWith('POST /hang')) socket.write(answer)
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
