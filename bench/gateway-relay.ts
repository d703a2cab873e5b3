// Shows the least that a proxy on node:net can cost: forwards all bytes, and reads and writes as the plain lane does.
// Usage: node bench/gateway-relay.ts <port> <upstream port> [<port> <upstream port> ...]
import { connect, createServer, type Socket } from 'node:net'
import { turnReads, turnWrites } from '../src/http/message/end-of-turn.ts'
import { SharedBuffer } from '../src/http/message/shared-buffer.ts'
import type { TurnReader } from '../src/http/message/turn-reads.ts'
import { acceptUnread, readShared } from '../src/http/server/plain-lane/shared-reads.ts'

const ports = process.argv.slice(2).map(Number)
const shared = new SharedBuffer()
for (let at = 0; at < ports.length; at += 2) relay(ports[at] ?? 0, ports[at + 1] ?? 0)

function relay(port: number, upstreamPort: number): void {
  const server = createServer({ noDelay: true }, (accepted) => pass(accepted, upstreamPort))
  acceptUnread(server)
  server.listen(port, '127.0.0.1')
}

function pass(accepted: Socket, upstreamPort: number): void {
  const fromUpstream = new Passing()
  const fromCaller = new Passing()
  const upstream = connect({
    ...{ port: upstreamPort, host: '127.0.0.1', noDelay: true },
    onread: {
      buffer: shared.bytes,
      callback: (count) => turnReads.add(fromUpstream, shared, count),
    },
  })
  const caller = readShared(accepted, fromCaller)
  if (caller === undefined) throw new Error('reads cannot be shared here')
  fromUpstream.to = caller
  fromCaller.to = upstream
  for (const [one, other] of [
    [caller, upstream],
    [upstream, caller],
  ] as const) {
    one.on('error', () => one.destroy())
    one.on('close', () => other.destroy())
  }
  caller.resume()
}

class Passing implements TurnReader {
  to: Socket | undefined
  hasWaiting = false
  readonly mayWait = true

  take(bytes: Buffer): true {
    if (this.to !== undefined) turnWrites.addText(this.to, bytes.toString('latin1'))
    return true
  }
}
