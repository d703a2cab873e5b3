import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { nextTurn } from '../../../timers.ts'
import { turnWrites } from '../../message/end-of-turn.ts'
import type { RelayedLines } from '../lane/carrier.ts'
import { writeRelayed } from './relay-writer.ts'

const firstPart = 'HTTP/1.1 200 OK\r\n'
const rest = 'Date: now\r\nConnection: close\r\n\r\n'
const [lines, ending] = [rest.slice(0, 11), Buffer.from(rest.slice(11))]
const fullPauses = 40

test('callers that read late get every byte of their own responses, and none of the others', async () => {
  await using connected = await connectedPairs(3)
  const { pairs } = connected
  // How often the kernel did not take all bytes of a response at once.
  let pauses = 0
  for (let round = 0; pauses < fullPauses; round++) {
    for (const [index, pair] of pairs.entries()) {
      const body = String.fromCharCode(97 + ((round + index) % 26)).repeat(16_000 - (round % 100))
      if (round % 50 === 0) pair.ours.cork()
      writeRelayed(pair.ours, relayed(body), { lines, ending })
      // In the other rounds, responses are collected until the buffer is full.
      if (round % 3 === 0) turnWrites.flush()
      if (round % 50 === 0) pair.ours.uncork()
      pair.sent.update(firstPart + rest + body)
      if (pair.ours.writableLength === 0) continue
      pauses++
      pair.theirs.resume()
    }
    if (round % 20 !== 0) continue
    await nextTurn()
    for (const { theirs } of pairs) theirs.pause()
  }
  turnWrites.flush()
  for (const { ours, theirs, sent, received } of pairs) {
    ours.end()
    theirs.resume()
    await once(theirs, 'end')
    assert.equal(received.digest('hex'), sent.digest('hex'))
  }
})

function relayed(body: string): RelayedLines {
  return {
    hasDate: false,
    lineBytes: firstPart.length,
    bodyBytes: body.length,
    copyLines: (to, at) => at + to.write(firstPart, at, 'latin1'),
    copyBody: (to, at) => void to.write(body, at, 'latin1'),
  }
}

interface Pair {
  readonly ours: Socket
  readonly theirs: Socket
  readonly sent: Hash
  readonly received: Hash
}

async function connectedPairs(count: number): Promise<AsyncDisposable & { pairs: Pair[] }> {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pairs: Pair[] = []
  while (pairs.length < count) {
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const theirs = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    const [ours] = await accepted
    const pair = { ours, theirs, sent: createHash('sha256'), received: createHash('sha256') }
    theirs.on('data', (chunk: Buffer) => pair.received.update(chunk))
    pairs.push(pair)
  }
  return {
    pairs,
    async [Symbol.asyncDispose]() {
      for (const { ours, theirs } of pairs) for (const socket of [ours, theirs]) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
