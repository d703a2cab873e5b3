import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request as send } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from './guarded.ts'
import { wait, type Torture } from './torture.ts'

const nodes = 3
const clients = 12
const answerMs = 100
const body = 'x'.repeat(10_000)

export const rolling: Torture = {
  about: 'a rolling restart of three nodes behind a balancer drops nothing',
  isLong: true,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-rolling-'))
    await using database = await postgresForTests()
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.end(body), answerMs)
    })
    const env = { DATA_DIR: folder, DATABASE_URL: database.url }
    const findings: string[] = []
    const pool: ServerProcess[] = []
    try {
      const { secret } = await prepareGuarded(env, upstream.url)
      for (let at = 0; at < nodes; at++) pool.push(await startServerProcess(env))
      await using balancer = await startBalancer(pool)
      const over = new AbortController()
      const tally = { answered: 0, dropped: [] as string[] }
      const calling = Array.from({ length: clients }, async () => {
        while (!over.signal.aborted) {
          const outcome = await call(`${balancer.url}/api/v1/intercept/up/x`, secret)
          if (outcome === 'whole') tally.answered++
          else tally.dropped.push(outcome)
        }
      })
      let replaced = 0
      let slowestEndMs = 0
      for (let round = 0; round < (short ? 1 : 10); round++) {
        for (let at = 0; at < nodes; at++) {
          const leaving = pool[at]
          if (leaving === undefined) continue
          const startedAt = performance.now()
          leaving.kill('SIGTERM')
          const { code } = await leaving.ended
          slowestEndMs = Math.max(slowestEndMs, performance.now() - startedAt)
          if (code !== 0) findings.push(`a node ended with ${code}`)
          pool[at] = await startServerProcess(env)
          replaced++
          await wait(300)
        }
      }
      over.abort()
      await Promise.all(calling)
      findings.push(...tally.dropped.map((reason) => `dropped: ${reason}`))
      if (tally.answered < replaced * clients) findings.push('hardly anything was answered')
      return {
        findings,
        figures: {
          replaced,
          answered: tally.answered,
          tried_again: balancer.triedAgain,
          slowest_end_ms: Math.round(slowestEndMs),
        },
      }
    } finally {
      for (const server of pool) await server[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    }
  },
}

/**
 * Forwards requests to the nodes in turn. Like usual load balancers, it tries another node if no process listens, or if
 * a kept-alive connection closes before the response begins (RFC 9112, section 9.3.1).
 */
async function startBalancer(
  pool: readonly ServerProcess[],
): Promise<{ url: string; triedAgain: number } & AsyncDisposable> {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  let turn = 0
  const pass = (incoming: IncomingMessage, answer: ServerResponse, left: number): void => {
    const node = pool[turn++ % pool.length]
    const outgoing = send(
      `${node?.baseUrl ?? ''}${incoming.url ?? ''}`,
      { agent, headers: { 'X-API-Key': String(incoming.headers['x-api-key']) } },
      (back) => {
        answer.writeHead(back.statusCode ?? 502)
        back.pipe(answer)
        back.on('error', () => answer.destroy())
      },
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      const wasClosed = outgoing.reusedSocket && !answer.headersSent
      if (left > 0 && (error.code === 'ECONNREFUSED' || wasClosed)) {
        if (wasClosed) balancer.triedAgain++
        pass(incoming, answer, left - 1)
      } else answer.destroy()
    })
    outgoing.end()
  }
  const server: Server = createServer((incoming, answer) => pass(incoming, answer, 20))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const balancer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    triedAgain: 0,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return balancer
}

async function call(url: string, secret: string): Promise<string> {
  try {
    const answer = await fetch(url, {
      headers: { 'X-API-Key': secret },
      signal: AbortSignal.timeout(20_000),
    })
    const text = await answer.text()
    return answer.status === 200 && text === body
      ? 'whole'
      : `${answer.status}, ${text.length} bytes`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
