// After SIGTERM, every request that was sent must get a complete response, and the process must exit with 0.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../harness/server-process.ts'
import { prepareGuarded, startUpstream } from './guarded.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture } from './torture.ts'

const clients = 40
const answerMs = 400
const graceMs = 30_000
const body = 'x'.repeat(10_000)

interface Tally {
  answered: number
  dropped: string[]
  isStopping: boolean
}

export const drain: Torture = {
  about: 'SIGTERM drops nothing',
  async run(options) {
    const runs = options.short ? 2 : 50
    const random = randomFrom(options.seed)
    const folder = mkdtempSync(join(tmpdir(), 'intercept-drain-'))
    const env = { DATA_DIR: folder }
    const findings: string[] = []
    let answered = 0
    let slowestEndMs = 0
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.end(body), answerMs)
    })
    try {
      const { secret } = await prepareGuarded(env, upstream.url)
      for (let at = 0; at < runs; at++) {
        await using server = await startServerProcess(env)
        const tally: Tally = { answered: 0, dropped: [], isStopping: false }
        const url = `${server.baseUrl}/api/v1/intercept/up/slow`
        const calling = Promise.all(
          Array.from({ length: clients }, async () => await callOn(url, secret, tally)),
        )
        await wait(answerMs + random() * 2 * answerMs)
        const stoppedAt = performance.now()
        server.kill('SIGTERM')
        tally.isStopping = true
        const end = await server.ended
        const tookMs = performance.now() - stoppedAt
        await calling
        slowestEndMs = Math.max(slowestEndMs, tookMs)
        answered += tally.answered
        findings.push(...tally.dropped.map((reason) => `run ${at}: dropped: ${reason}`))
        if (end.code !== 0) findings.push(`run ${at}: ended with ${end.code ?? end.signal}`)
        if (tookMs > graceMs) findings.push(`run ${at}: ended after ${tookMs} ms`)
        if (tally.answered < clients) findings.push(`run ${at}: hardly anything was answered`)
      }
      return {
        findings,
        figures: { runs, answered, slowest_end_ms: Math.round(slowestEndMs) },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Makes calls one after the other, over a single connection while it is open, until a call fails or is refused. */
async function callOn(url: string, secret: string, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    const outcome = await call(url, secret, agent)
    if (outcome === 'answered') tally.answered++
    // A connection that is refused during shutdown is fine, because no request was sent over it.
    else if (outcome === 'ECONNREFUSED' && tally.isStopping) break
    else {
      tally.dropped.push(outcome)
      break
    }
  }
  agent.destroy()
}

async function call(url: string, secret: string, agent: Agent): Promise<string> {
  return await new Promise((resolve) => {
    const sent = request(url, { agent, headers: { 'X-API-Key': secret } }, (answer) => {
      let bytes = 0
      answer.on('data', (piece: Buffer) => {
        bytes += piece.length
      })
      answer.on('end', () => {
        const isWhole = answer.statusCode === 200 && bytes === body.length
        resolve(isWhole ? 'answered' : `${answer.statusCode}, ${bytes} bytes`)
      })
      answer.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'cut'))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'failed'))
    sent.end()
  })
}
