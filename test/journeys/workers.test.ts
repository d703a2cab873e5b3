// Several workers on one port, seen from outside: which of them gets a connection, and what becomes of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
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
import { childrenOf, startServerProcess, type ServerProcess } from '../harness/server-process.ts'
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
    await until(() => String(countsOf(server)) === '20,20,20')
    const [first = []] = connectionsOf(server)
    for (const socket of opened) if (first.includes(socket.localPort ?? 0)) socket.destroy()
    await until(() => String(countsOf(server)) === '0,20,20')
    // Until the worker has reported what closed, new ones go to all three.
    await openUntilEven(server, opened)
    const [victim = 0] = childrenOf(server.pid)
    process.kill(victim, 'SIGKILL')
    await untilListening(server, 4)
    await until(() => childrenOf(server.pid).length === 3)
    await openUntilEven(server, opened)
    for (const socket of opened) socket.destroy()
  })

  test('that end take no connection with them: it is closed, or another worker has it', async () => {
    await using server = await startWorkers('stopped', 2)
    const [victim = 0] = childrenOf(server.pid)
    process.kill(victim, 'SIGSTOP')
    const port = Number(new URL(server.baseUrl).port)
    const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    let ended = 0
    // The text is empty if the connection is closed; a connection that got lost would never end.
    const said = Array.from({ length: 8 }, async () => {
      const text = await exchangeRaw(port, request, { quietMs: 60_000 })
      ended++
      return text
    })
    await until(() => ended >= 6)
    process.kill(victim, 'SIGKILL')
    const statuses = (await Promise.all(said)).map((text) => String(statusesOf(text)))
    assert.ok(statuses.filter((status) => status === '200').length >= 7, String(statuses))
  })

  test('finish open requests when their supervisor is killed', async () => {
    const env = { DATA_DIR: join(folder, 'orphans'), PORT: String(await portForTests()) }
    const asked = Promise.withResolvers<ServerResponse>()
    await using upstream = await startUpstream((_request, response) => asked.resolve(response))
    const { secret } = await prepareGuarded(env, upstream.url)
    await using server = await startServerProcess({ ...env, WORKERS: '2' })
    const call = `GET /api/v1/intercept/up/x HTTP/1.1\r\nHost: a\r\nX-API-Key: ${secret}\r\n\r\n`
    const said = exchangeRaw(Number(new URL(server.baseUrl).port), call)
    const response = await asked.promise
    server.kill('SIGKILL')
    await until(() => server.lines.some((line) => /Stopping: open requests/.test(line)))
    response.end('late')
    assert.match(await said, /late/)
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

  test('answer or refuse every connection that is made while they end, except those whose handshake is half done', async () => {
    const counts = { answered: 0, refused: 0, reset: 0 }
    for (let turn = 0; turn < 4; turn++) {
      await using server = await startWorkers(`ends-${turn}`, 2)
      await using callers = await startClosingCallers(Number(new URL(server.baseUrl).port))
      server.kill('SIGTERM')
      addOutcomes(counts, await callers.counted)
      assert.deepEqual(await server.ended, { code: 0, signal: null })
    }
    assert.ok(counts.answered > 0 && counts.refused > 0, JSON.stringify(counts))
    // Only connections whose handshake was half done may be reset.
    assert.ok(counts.reset <= counts.answered / 40, JSON.stringify(counts))
  })

  test('leave the port to the others when one of them ends alone', async () => {
    await using server = await startWorkers('alone', 2)
    const [first = 0] = childrenOf(server.pid)
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
      const workers = childrenOf(server.pid)
      return workers.length === 2 && !workers.includes(first)
    })
    assert.ok(answers > 1)
  })

  async function startWorkers(name: string, count: number): Promise<ServerProcess> {
    const PORT = String(await portForTests())
    const env = { DATA_DIR: join(folder, name), WORKERS: String(count), PORT }
    const server = await startServerProcess(env)
    await untilListening(server, count)
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

/** Resolves when so many workers have begun to listen since the server was started. */
async function untilListening(server: ServerProcess, count: number): Promise<void> {
  const listening = () => server.lines.filter((line) => /Intercept listens at/.test(line)).length
  await until(() => listening() === count)
}

/** Opens one connection after another until all workers have equally many. */
async function openUntilEven(server: ServerProcess, opened: Socket[]): Promise<void> {
  await until(async () => {
    opened.push(...(await openConnections(server, 1)))
    const open = opened.filter(({ destroyed }) => !destroyed).length
    await until(() => sum(countsOf(server)) === open)
    return new Set(countsOf(server)).size === 1
  })
}

/** Sends each part when the one before has left; returns what has come by the first byte of a body. */
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

function countsOf(server: ServerProcess): number[] {
  return connectionsOf(server).map(({ length }) => length)
}

/** Returns the callers' ports of each worker's connections, in the order in which the workers were started. */
function connectionsOf(server: ServerProcess): number[][] {
  const port = Number(new URL(server.baseUrl).port)
  const rows = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
    // Fields of a row: local and remote address, state (01: established), and the number of the socket.
    .filter(([, local = '', , state]) => portOf(local) === port && state === '01')
  const callers = new Map(rows.map((row) => [`socket:[${row[9]}]`, portOf(row[2] ?? '')]))
  return childrenOf(server.pid).map((pid) => {
    return openFilesOf(pid).flatMap((file) => callers.get(file) ?? [])
  })
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16)
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
