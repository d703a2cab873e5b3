import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom } from '../harness/random.ts'
import { credential, gatewayForTests, prefix, until } from '../harness/gateway.ts'

const requests = 400
const callers = 6
const pieceBytes = 700

describe('callers that share a connection', () => {
  test('are each forwarded as themselves, with their own header lines, and get their own responses', async () => {
    await using gateway = await gatewayForTests({
      settings: { TRUSTED_PROXIES: '1' },
      answer: sayWho,
    })
    const { upstream, product, run } = gateway
    const header = ['--header', 'X-Token: ours']
    await run('target', 'set', 'acme', 'injects', '--upstream', upstream.url, ...header)
    const keys = [gateway.xApiKey, gateway.bearer, await gateway.issue()]
    const random = randomFrom(12)
    const expected: string[] = []
    let text = ''
    let caller = 0
    for (let number = 0; number < requests; number++) {
      // Usually the same caller comes again, so that the node recognizes the header lines.
      if (random() < 0.1) caller = Math.floor(random() * callers)
      const key = keys[caller % keys.length]
      assert.ok(key)
      const target = random() < 0.3 ? 'injects' : 'echo'
      const [address, host, token] = [`192.0.2.${caller}`, `host-${caller}`, `token-${caller}`]
      text += `GET ${prefix}/${target}/${number} HTTP/1.1\r\nHost: localhost\r\n${credential(key).join(': ')}\r\n`
      text += `X-Forwarded-For: ${address}\r\nX-Forwarded-Host: ${host}\r\nX-Token: ${token}\r\n\r\n`
      const seen = [`/${number}`, key.id, `${address}, 127.0.0.1`, host]
      expected.push(`<${[...seen, target === 'echo' ? token : 'ours'].join(' ')}>`)
    }
    const socket = connect(product.port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    await sendInPieces(socket, text, random)
    await until(() => received.split('HTTP/1.1 ').length > requests)
    assert.deepEqual(received.match(/<[^<>]*>/g), expected)
    await closed(socket)
  })

  test('are refused once their key is revoked, also if the connection knows their header lines', async () => {
    await using gateway = await gatewayForTests()
    const gone = await gateway.issue()
    const socket = connect(gateway.product.port, '127.0.0.1')
    const ask = async (key: typeof gone): Promise<string> => {
      const lines = `Host: localhost\r\n${credential(key).join(': ')}\r\n\r\n`
      socket.write(`GET ${prefix}/echo/x HTTP/1.1\r\n${lines}`)
      const [chunk] = (await once(socket, 'data')) as [Buffer]
      return chunk.toString('latin1', 9, 12)
    }
    for (let time = 0; time < 4; time++) assert.equal(await ask(gone), '200')
    await gateway.run('key', 'revoke', gone.id)
    for (let time = 0; time < 3; time++) assert.equal(await ask(gone), '401')
    assert.equal(await ask(gateway.xApiKey), '200')
    await closed(socket)
  })
})

/** Responds with the URL and the headers from which an upstream learns who called, and from where. */
function sayWho({ rawHeaders, url }: IncomingMessage, response: ServerResponse): void {
  const names = ['Intercept-Key-Id', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Token']
  const values = names.map((name) =>
    rawHeaders.filter((_value, at) => rawHeaders[at - 1] === name).join(),
  )
  response.end(`<${[url, ...values].join(' ')}>`)
}

/** Sends a text in pieces of random sizes. Pauses after some of them, so that the node reads them separately. */
async function sendInPieces(socket: Socket, text: string, random: () => number): Promise<void> {
  for (let at = 0; at < text.length;) {
    const next = at + 1 + Math.floor(random() * pieceBytes)
    socket.write(text.slice(at, next))
    at = next
    if (random() < 0.3) await sleep(1)
  }
}

async function closed(socket: Socket): Promise<void> {
  socket.destroy()
  await once(socket, 'close')
}
