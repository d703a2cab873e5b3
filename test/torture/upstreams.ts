// Callers of upstreams that hang, stop half-way or break the protocol must get the right response in time.
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startRawUpstream, startUpstream } from './guarded.ts'
import type { Torture } from './torture.ts'

const firstByteMs = 1000
const idleMs = 1500
const slackMs = 1500
const othersWithinMs = 2000

interface Outcome {
  readonly status: number
  readonly isWhole: boolean
  readonly tookMs: number
}

interface Misbehaviour {
  readonly talk: (socket: Socket) => void
  /** The response that the caller must get. */
  readonly expect: {
    readonly status: number
    readonly isWhole?: boolean
    readonly withinMs: number
  }
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n'
const misbehaviours: Readonly<Record<string, Misbehaviour>> = {
  hang: { talk: () => undefined, expect: { status: 504, withinMs: firstByteMs + slackMs } },
  close: { talk: (socket) => socket.end(), expect: { status: 502, withinMs: slackMs } },
  reset: { talk: (socket) => socket.resetAndDestroy(), expect: { status: 502, withinMs: slackMs } },
  garbage: {
    talk: (socket) => socket.end('\u0016\u0003\u0001 no HTTP at all \u0000\r\n\r\n'),
    expect: { status: 502, withinMs: slackMs },
  },
  two_lengths: {
    talk: (socket) => socket.end(`${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`),
    expect: { status: 502, withinMs: slackMs },
  },
  length_and_chunks: {
    talk: (socket) =>
      socket.end(
        `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
      ),
    expect: { status: 502, withinMs: slackMs },
  },
  huge_head: {
    talk: (socket) => socket.end(`${head}X-Huge: ${'x'.repeat(1024 * 1024)}\r\n\r\n`),
    expect: { status: 502, withinMs: slackMs },
  },
  short_body: {
    talk: (socket) => socket.end(`${head}Content-Length: 100\r\n\r\nabc`),
    expect: { status: 200, isWhole: false, withinMs: slackMs },
  },
  stops_in_body: {
    talk: (socket) => socket.write(`${head}Content-Length: 100\r\n\r\nabc`),
    expect: { status: 200, isWhole: false, withinMs: idleMs + slackMs },
  },
  surplus: {
    talk: (socket) =>
      socket.write(`${head}Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\nstolen`),
    expect: { status: 200, isWhole: true, withinMs: slackMs },
  },
}

/**
 * For each misbehaviour, makes a hundred concurrent calls (five in the short form) to a target that shows it. A healthy
 * target must not be affected.
 */
export const upstreams: Torture = {
  about: 'hanging, lying and babbling upstreams',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-upstreams-'))
    const env = { DATA_DIR: folder }
    const findings: string[] = []
    await using opened = new AsyncDisposableStack()
    try {
      const healthy = opened.use(await startUpstream((_request, response) => response.end('well')))
      const { secret } = await prepareGuarded(env, healthy.url)
      for (const [name, { talk }] of Object.entries(misbehaviours)) {
        const url = opened.use(
          await startRawUpstream((socket) => socket.once('data', () => talk(socket))),
        ).url
        const slug = name.replaceAll('_', '-')
        const times = ['--first-byte', '1s', '--idle', '1500ms']
        await command(env, 'target', 'set', 'torture', slug, '--upstream', url, ...times)
      }
      await using server = await startServerProcess(env)
      const base = `${server.baseUrl}/api/v1/intercept`
      const each = options.short ? 5 : 100
      let calls = 0
      const bad = Object.entries(misbehaviours).flatMap(([name, { expect }]) =>
        Array.from({ length: each }, async () => {
          const outcome = await call(`${base}/${name.replaceAll('_', '-')}/x`, secret)
          calls++
          const isWhole = expect.isWhole ?? true
          if (outcome.status !== expect.status || outcome.isWhole !== isWhole) {
            findings.push(`${name}: ${JSON.stringify(outcome)}`)
          }
          if (outcome.tookMs > expect.withinMs) findings.push(`${name}: after ${outcome.tookMs} ms`)
        }),
      )
      let slowestMs = 0
      for (let at = 0; at < 20; at++) {
        const well = await call(`${base}/up/x`, secret)
        slowestMs = Math.max(slowestMs, well.tookMs)
        if (well.status !== 200) findings.push(`the healthy target answered ${well.status}`)
      }
      if (slowestMs > othersWithinMs) findings.push(`a healthy call took ${slowestMs} ms`)
      await Promise.all(bad)
      return {
        findings: [...new Set(findings)],
        figures: { calls, slowest_healthy_ms: Math.round(slowestMs) },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function call(url: string, secret: string): Promise<Outcome> {
  const startedAt = performance.now()
  return await new Promise((resolve) => {
    const done = (status: number, isWhole: boolean): void =>
      resolve({ status, isWhole, tookMs: Math.round(performance.now() - startedAt) })
    const sent = request(url, { agent: false, headers: { 'X-API-Key': secret } }, (answer) => {
      answer.resume()
      answer.on('close', () => done(answer.statusCode ?? 0, answer.complete))
      answer.on('error', () => undefined)
    })
    sent.on('error', () => done(0, false))
    sent.end()
  })
}
