// Several workers on one port, seen from outside: which of them gets a connection, and what becomes of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { addOutcomes, startClosingCallers } from '../harness/closing-callers.ts'
import { until } from '../harness/gateway.ts'
import { portForTests } from '../harness/ports.ts'
import { exchangeRaw, statusesOf } from '../harness/raw.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from '../torture/guarded.ts'

const isLinux = process.platform === 'linux'
const onlyLinux = isLinux ? '' : ' (skipped: only Linux shows the connections of a process)'

describe('workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-shared-port-'))
  after(() => rmSync(folder, { recursive: true }))

  test(`get equally many connections: of many at once, after some have closed, and after a worker was started again${onlyLinux}`, async (t) => {
    if (!isLinux) {
      t.skip('only Linux shows the connections of a process')
      return
    }
    await using server = await startWorkers('even', 3)
    const opened = await openConnections(server, 60)
    await untilEvery(server, [20, 20, 20])
    for (const socket of opened.slice(0, 45)) socket.destroy()
    await until(() => sum(connectionsOf(server)) === 15)
    // Workers report within 20 ms what has closed; whatever comes sooner is spread by the earlier numbers.
    await until(async () => {
      opened.push(...(await openConnections(server, 3)))
      return Math.max(...connectionsOf(server)) - Math.min(...connectionsOf(server)) <= 1
    })
    const [victim = 0] = workersOf(server)
    process.kill(victim, 'SIGKILL')
    await until(() => workersOf(server).length === 3 && !workersOf(server).includes(victim))
    await until(async () => {
      opened.push(...(await openConnections(server, 1)))
      return Math.max(...connectionsOf(server)) - Math.min(...connectionsOf(server)) <= 1
    })
    for (const socket of opened) socket.destroy()
  })

  test('answer a caller that sends its request in parts, pipelines and half-closes, on either lane', async () => {
    const env = { DATA_DIR: join(folder, 'lanes'), PORT: String(await portForTests()) }
    await using upstream = await startUpstream(async (request, response) => {
      response.end(await text(request))
    })
    const { secret } = await prepareGuarded(env, upstream.url)
    for (const HTTP_LANE of ['plain', 'standard']) {
      await using server = await startServerProcess({ ...env, WORKERS: '2', HTTP_LANE })
      const port = Number(new URL(server.baseUrl).port)
      const head = `POST /api/v1/intercept/up/x HTTP/1.1\r\nHost: localhost:${port}\r\nX-API-Key: ${secret}\r\nContent-Length: 5\r\n\r\n`
      const said = await exchangeRaw(port, `${head}first${head}other`)
      assert.deepEqual(statusesOf(said), [200, 200], HTTP_LANE)
      assert.match(said, /first[^]*other$/)
      assert.match(await sendInParts(port, [head, 'se', 'nds']), /\r\n\r\nsends$/)
      // node:http reads this request, and answers a caller that has already ended its side.
      const last = await sendInParts(port, ['GET /healthz HTTP/1.1\r\n', 'Host: a\r\n\r\n'], 'end')
      assert.deepEqual(statusesOf(last), [200], HTTP_LANE)
    }
  })

  test('answer or refuse every connection that is made while they end, and reset none', async () => {
    const counts = { answered: 0, refused: 0, reset: 0 }
    for (let turn = 0; turn < 4; turn++) {
      await using server = await startWorkers(`ends-${turn}`, 2)
      const callers = await startClosingCallers(Number(new URL(server.baseUrl).port))
      server.kill('SIGTERM')
      addOutcomes(counts, await callers.counted)
      assert.deepEqual(await server.ended, { code: 0, signal: null })
      await callers.end()
    }
    assert.ok(counts.answered > 0 && counts.refused > 0, JSON.stringify(counts))
    // Only connections whose handshake was half done may be reset.
    assert.ok(counts.reset <= counts.answered / 40, JSON.stringify(counts))
  })

  test('leave the port to the others when one of them ends alone', async () => {
    await using server = await startWorkers('alone', 2)
    const [first = 0] = workersOf(server)
    process.kill(first, 'SIGTERM')
    const port = Number(new URL(server.baseUrl).port)
    let answers = 0
    await until(async () => {
      // On a new connection each time: one that is kept could be closed by the worker that ends.
      const said = await exchangeRaw(
        port,
        'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      )
      assert.deepEqual(statusesOf(said), [200])
      answers++
      return workersOf(server).length === 2 && !workersOf(server).includes(first)
    })
    assert.ok(answers > 1)
  })

  async function startWorkers(name: string, count: number): Promise<ServerProcess> {
    const PORT = String(await portForTests())
    const env = { DATA_DIR: join(folder, name), WORKERS: String(count), PORT }
    const server = await startServerProcess(env)
    const listening = () => server.lines.filter((line) => /Intercept listens at/.test(line)).length
    await until(() => listening() === count)
    return server
  }
})

async function openConnections({ baseUrl }: ServerProcess, count: number): Promise<Socket[]> {
  const port = Number(new URL(baseUrl).port)
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  await Promise.all(
    sockets.map(async (socket) => {
      socket.on('error', () => socket.destroy())
      await once(socket, 'connect')
    }),
  )
  return sockets
}

async function untilEvery(server: ServerProcess, wanted: readonly number[]): Promise<void> {
  await until(() => String(connectionsOf(server)) === String(wanted))
}

/** Sends each part when the one before has left; returns everything until the other side is silent or closes. */
async function sendInParts(port: number, parts: readonly string[], then?: 'end'): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let said = ''
  socket.setEncoding('latin1').on('data', (more: string) => (said += more))
  for (const part of parts) {
    await new Promise((resolve) => socket.write(part, 'latin1', resolve))
    await nextTurn()
  }
  if (then === 'end') socket.end()
  await until(() => /\r\n\r\n[^]/.test(said))
  socket.destroy()
  return said
}

function workersOf({ pid }: ServerProcess): number[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return ids.split(' ').filter(Boolean).map(Number)
}

/** Returns how many connections of its port each worker has, in the order in which the workers were started. */
function connectionsOf(server: ServerProcess): number[] {
  const port = Number(new URL(server.baseUrl).port).toString(16).toUpperCase().padStart(4, '0')
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  // Fields of a row: local address, state (01: established), and the number of the socket.
  const own = rows.filter((row) => row[1]?.endsWith(`:${port}`) === true && row[3] === '01')
  const sockets = new Set(own.map((row) => `socket:[${row[9]}]`))
  return workersOf(server).map((pid) => openFilesOf(pid).filter((file) => sockets.has(file)).length)
}

function openFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(join(folder, name))]
    } catch {
      // The file has been closed since.
      return []
    }
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
