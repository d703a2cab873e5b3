// Shows the least that a proxy on node:net can cost: forwards all bytes, and reads and writes as the plain lane does.
// Usage: node bench/gateway-relay.ts <port> <upstream port>
import { connect, createServer, type Socket } from 'node:net'
import { acceptUnread, readShared } from '../src/http/server/plain-lane/shared-reads.ts'

const [port, upstreamPort = 0] = process.argv.slice(2).map(Number)
const shared = Buffer.allocUnsafeSlow(64 * 1024)

const server = createServer({ noDelay: true }, (accepted) => {
  const upstream = connect({
    ...{ port: upstreamPort, host: '127.0.0.1', noDelay: true },
    onread: {
      buffer: shared,
      callback: (count) => pass(caller, shared.toString('latin1', 0, count)),
    },
  })
  const own = readShared(accepted, (bytes) => pass(upstream, bytes.toString('latin1')))
  if (own === undefined) throw new Error('reads cannot be shared here')
  const caller = own
  for (const [one, other] of [
    [caller, upstream],
    [upstream, caller],
  ] as const) {
    one.on('error', () => one.destroy())
    one.on('close', () => other.destroy())
  }
  caller.resume()
})
acceptUnread(server)
server.listen(port, '127.0.0.1')

function pass(to: Socket, text: string): true {
  to.write(text, 'latin1')
  return true
}
