// Nothing may reach the upstream without having passed the checks.
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { startServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from './guarded.ts'
import { randomFrom } from '../harness/random.ts'
import type { Torture } from './torture.ts'

/** A run that sends fewer messages shows nothing, however long it takes. */
const fewestSent = 200
const acceptedAtLeast = 0.05
const quietMs = 150
const answeredQuietMs = 10
const stallAtMostMs = 3000

/** Fragments that often confuse parsers. */
const spice = [
  '\r\n',
  '\n',
  '\r',
  '\u0000',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '%2e%2e/',
  '../',
  '//',
  '%2f',
  '%00',
  '\\',
  '\u00a0',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: x\r\n',
  'Connection: x-api-key\r\n',
  'Host: other.test\r\n',
  'X-API-Key: \r\n',
  'Expect: 100-continue\r\n',
  '0\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'HTTP/2.0',
  'Upgrade: websocket\r\n',
  '__proto__: 1\r\n',
  '99999999999999999999',
]

/** Mutates well-formed requests: with a valid key, without a key, and with a key that differs by one character. */
export const fuzz: Torture = {
  about: 'mutated requests on raw connections',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-fuzz-'))
    const env = { DATA_DIR: folder, LIMIT_FAILED_CREDENTIALS: 'off' }
    const random = randomFrom(options.seed)
    const findings: string[] = []
    const minutes = options.minutes ?? (options.short ? 0.05 : 1)
    let arrived = 0
    let key = ''
    await using upstream = await startUpstream((request, response) => {
      arrived++
      const seen = JSON.stringify(request.rawHeaders)
      if (key !== '' && seen.includes(key)) findings.push(`the key went upstream: ${seen}`)
      if (request.headers['intercept-key-id'] === undefined) findings.push(`unguarded: ${seen}`)
      // Check only the path: the query belongs to the upstream and is forwarded byte for byte.
      const [path = ''] = (request.url ?? '').split('?')
      if (/\/(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|$)|%5c|\\|\u0000/i.test(path)) {
        findings.push(`an ambiguous path went upstream: ${request.url}`)
      }
      request.resume()
      response.end('ok')
    })
    try {
      const { secret } = await prepareGuarded(env, upstream.url)
      key = secret
      await using server = await startServerProcess(env)
      const port = Number(new URL(server.baseUrl).port)
      const counts = { sent: 0, accepted: 0, refused: 0, closed: 0 }
      const deadline = performance.now() + minutes * 60_000
      const send = async (): Promise<void> => {
        while ((performance.now() < deadline || counts.sent < fewestSent) && findings.length < 20) {
          const bytes = mutate(template(secret, port, random), random)
          const answer = await exchange(port, bytes)
          counts.sent++
          if (answer === '') counts.closed++
          else if (answer.startsWith('HTTP/1.1 2')) counts.accepted++
          else counts.refused++
          if (answer.startsWith('HTTP/1.1 500') || answer === 'stalled') {
            findings.push(`${answer.slice(0, 30)} to ${JSON.stringify(bytes.toString('latin1'))}`)
          }
          if (answer.includes(secret)) findings.push('the key came back')
        }
      }
      await Promise.all(Array.from({ length: 8 }, send))
      const health = await fetch(`${server.baseUrl}/healthz`).then(
        ({ status }) => String(status),
        (error: unknown) => inspect(error),
      )
      if (health !== '200') {
        findings.push(
          `no sign of life: ${health}; its last words: ${server.lines.slice(-5).join('\n')}`,
        )
      }
      if (counts.accepted < counts.sent * acceptedAtLeast) {
        findings.push(
          `only ${counts.accepted} of ${counts.sent} were accepted: too wild to mean much`,
        )
      }
      return { findings, figures: { ...counts, arrived } }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

function template(secret: string, port: number, random: () => number): string {
  const wrong = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
  const credential = pick(
    [`X-API-Key: ${secret}\r\n`, `X-API-Key: ${secret}\r\n`, `X-API-Key: ${wrong}\r\n`, ''],
    random,
  )
  const start = `/api/v1/intercept/up/a/b?c=d HTTP/1.1\r\nHost: localhost:${port}\r\n${credential}`
  return pick(
    [
      `GET ${start}\r\n`,
      `POST ${start}Content-Length: 5\r\n\r\nhello`,
      `POST ${start}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      `GET ${start}\r\nGET ${start}\r\n`,
    ],
    random,
  )
}

function mutate(text: string, random: () => number): Buffer {
  let bytes = Buffer.from(text, 'latin1')
  for (let left = Math.floor(random() * 4); left > 0; left--) {
    const at = Math.floor(random() * bytes.length)
    const end = Math.min(bytes.length, at + Math.floor(random() * 24))
    const before = bytes.subarray(0, at)
    const change = Math.floor(random() * 4)
    if (change === 0)
      bytes = Buffer.concat([before, Buffer.from([random() * 256]), bytes.subarray(at + 1)])
    else if (change === 1)
      bytes = Buffer.concat([before, bytes.subarray(at, end), bytes.subarray(at)])
    else if (change === 2) bytes = Buffer.concat([before, bytes.subarray(end)])
    else
      bytes = Buffer.concat([
        before,
        Buffer.from(pick(spice, random), 'latin1'),
        bytes.subarray(at),
      ])
  }
  return bytes
}

/**
 * Sends the bytes on a new connection and returns the response, or 'stalled' if it is still arriving when time runs out.
 * Our side is closed only after a moment of silence, because the gateway abandons the requests of a caller who leaves.
 */
async function exchange(port: number, bytes: Buffer): Promise<string> {
  return await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let answer = ''
    let isLeaving = false
    const leave = (): void => {
      isLeaving = true
      socket.end()
    }
    let quiet = setTimeout(leave, quietMs)
    const stalled = setTimeout(() => {
      resolve(isLeaving ? answer : 'stalled')
      socket.destroy()
    }, stallAtMostMs)
    socket.on('connect', () => socket.write(bytes))
    socket.on('data', (piece: Buffer) => {
      answer += piece.toString('latin1')
      clearTimeout(quiet)
      quiet = setTimeout(leave, answeredQuietMs)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(stalled)
      clearTimeout(quiet)
      resolve(answer)
    })
  })
}

function pick<T>(choices: readonly T[], random: () => number): T {
  const choice = choices[Math.floor(random() * choices.length)]
  if (choice === undefined) throw new Error('nothing to pick from')
  return choice
}
