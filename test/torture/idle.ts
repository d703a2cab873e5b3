import { readFileSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../harness/server-process.ts'
import type { Torture } from './torture.ts'

const maxBytesPerConnection = 20 * 1024
const normalCallAtMostMs = 1000

/** Opens connections that stay idle after one answered request, as browsers and connection pools do. */
export const idle: Torture = {
  about: 'idle connections',
  async run(options) {
    const connections = options.short ? 2000 : 10_000
    const folder = mkdtempSync(join(tmpdir(), 'intercept-idle-'))
    const sockets: Socket[] = []
    try {
      await using server = await startServerProcess({ DATA_DIR: folder })
      const { port } = new URL(server.baseUrl)
      // Make enough requests for the heap to grow to what requests need, so that only the connections are measured.
      for (let at = 0; at < 3000; at++) await (await fetch(`${server.baseUrl}/healthz`)).text()
      const before = residentBytes(server.pid)
      let refused = 0
      for (let at = 0; at < connections; at += 100) {
        const batch = await Promise.allSettled(
          Array.from({ length: 100 }, async () => await openIdle(Number(port))),
        )
        for (const one of batch) {
          if (one.status === 'fulfilled') sockets.push(one.value)
          else refused++
        }
      }
      const each = Math.round((residentBytes(server.pid) - before) / sockets.length)
      let worstMs = 0
      for (let at = 0; at < 50; at++) {
        const startedAt = performance.now()
        await (await fetch(`${server.baseUrl}/healthz`)).text()
        worstMs = Math.max(worstMs, performance.now() - startedAt)
      }
      const findings: string[] = []
      if (refused > 0) findings.push(`${refused} connections were not accepted`)
      if (each > maxBytesPerConnection) findings.push(`${each} bytes per idle connection`)
      if (worstMs > normalCallAtMostMs) findings.push(`a normal call took ${worstMs} ms`)
      return {
        findings,
        figures: {
          connections: sockets.length,
          bytes_each: each,
          worst_call_ms: Math.round(worstMs * 10) / 10,
        },
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      rmSync(folder, { recursive: true })
    }
  },
}

async function openIdle(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  return await new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.setTimeout(10_000, () => reject(new Error('no answer')))
    socket.once('data', () => {
      socket.setTimeout(0)
      socket.on('error', () => undefined)
      resolve(socket)
    })
    socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`)
  })
}

function residentBytes(pid: number): number {
  const [, kib = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}
