import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import type { Torture } from './torture.ts'

const mebibyte = 1024 * 1024
const growthAtMostBytes = 64 * mebibyte
const chunk = Buffer.alloc(64 * 1024, 's')

/** Downloads and uploads a body of 1 GiB (128 MiB in the short form), and watches the server's memory. */
export const streams: Torture = {
  about: 'large bodies in both directions in little memory',
  async run(options) {
    const bytes = (options.short ? 128 : 1024) * mebibyte
    const folder = mkdtempSync(join(tmpdir(), 'intercept-streams-'))
    try {
      await using upstream = await startUpstream((incoming, outgoing) => {
        if (incoming.method === 'GET') {
          send(bytes, outgoing)
          return
        }
        let received = 0
        incoming.on('data', (piece: Buffer) => (received += piece.length))
        incoming.on('end', () => outgoing.end(String(received)))
      })
      await using server = await startServerProcess({ DATA_DIR: folder, LIMIT_BODY: '2048MiB' })
      const env = { DATA_DIR: folder, BASE_URL: server.baseUrl, LIMIT_BODY: '2048MiB' }
      const { secret } = await prepareGuarded(env, upstream.url)
      await command(env, 'target', 'set', 'torture', 'up', '--first-byte', '10m')
      const url = `${server.baseUrl}/api/v1/intercept/up/x`
      // The first call grows the buffers that later ones reuse.
      await transfer(url, secret, 0)
      const before = residentBytes(server.pid)
      const watch = watchMemory(server.pid)
      const down = await transfer(url, secret, 0)
      const up = await transfer(url, secret, bytes)
      const growth = watch.stop() - before
      const findings: string[] = []
      if (down.received !== bytes) findings.push(`${down.received} of ${bytes} bytes came down`)
      if (Number(up.text) !== bytes) findings.push(`${up.text} of ${bytes} bytes went up`)
      if (growth > growthAtMostBytes) findings.push(`memory grew by ${growth} bytes`)
      return { findings, figures: { bytes, growth_mib: Math.round(growth / mebibyte) } }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Uploads this many bytes (0 means a GET), and reads the response to its end. */
async function transfer(
  url: string,
  secret: string,
  bytes: number,
): Promise<{ received: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: bytes === 0 ? 'GET' : 'POST',
        headers: {
          'X-API-Key': secret,
          ...(bytes === 0 ? {} : { 'Content-Length': String(bytes) }),
        },
      },
      (answer) => {
        let received = 0
        let text = ''
        answer.on('data', (piece: Buffer) => {
          received += piece.length
          if (received < 100) text += piece.toString()
        })
        answer.on('end', () => resolve({ received, text }))
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    if (bytes === 0) outgoing.end()
    else send(bytes, outgoing)
  })
}

function send(
  bytes: number,
  to: {
    write(piece: Buffer): boolean
    end(): unknown
    on(event: 'drain', heard: () => void): unknown
  },
): void {
  let sent = 0
  const more = (): void => {
    while (sent < bytes) {
      sent += chunk.length
      if (!to.write(chunk)) return
    }
    to.end()
  }
  to.on('drain', () => {
    if (sent < bytes) more()
    else to.end()
  })
  more()
}

function watchMemory(pid: number): { stop(): number } {
  let peak = residentBytes(pid)
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(pid))
  }, 20)
  return {
    stop() {
      clearInterval(timer)
      return Math.max(peak, residentBytes(pid))
    },
  }
}

function residentBytes(pid: number): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
