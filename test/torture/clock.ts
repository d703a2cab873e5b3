// When the wall clock jumps or runs too fast, what expired must stay expired, limits must keep working, and retries
// must not come in a burst.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { firstOwner } from '../harness/person.ts'
import { productForTests } from '../harness/product.ts'
import { engines } from '../harness/store.ts'
import { startUpstream } from './guarded.ts'
import { wait, type Torture, type TortureOptions, type TortureReport } from './torture.ts'

const hourMs = 3_600_000
/** The maximum number of concurrent deliveries to one endpoint. */
const maxConcurrent = 8
const maxIdleShare = 0.05

/**
 * Runs the product in this process with a wall clock that the torture moves. Durations are measured by another clock,
 * so they stay correct.
 */
export const clock: Torture = {
  about: 'the clock jumps an hour, a day forward, two days back, and runs ten times too fast',
  isLong: true,
  async run(options) {
    const figures: Record<string, number> = {}
    const findings: string[] = []
    for (const engine of engines) {
      const report = await onEngine(engine, options)
      for (const [name, value] of Object.entries(report.figures)) {
        figures[`${engine}_${name}`] = value
      }
      findings.push(...report.findings.map((finding) => `${engine}: ${finding}`))
    }
    return { figures, findings }
  },
}

async function onEngine(
  engine: (typeof engines)[number],
  options: TortureOptions,
): Promise<TortureReport> {
  const findings: string[] = []
  const expect = (what: string, actual: unknown, ...expected: readonly unknown[]): void => {
    if (!expected.includes(actual)) findings.push(`${what}: ${String(actual)}`)
  }
  await using upstream = await startUpstream((_request, response) => response.end('ok'))
  await using product = await productForTests({ engine })
  await using receiver = await startFailingReceiver()
  const owner = await firstOwner(product)
  await owner.call('POST /organizations/acme/targets', { slug: 'up', upstream: upstream.url })
  const issue = async (input: object): Promise<{ id: string; secret: string }> => {
    const issued = await owner.call('POST /organizations/acme/keys', { name: 'key', ...input })
    if (issued.status !== 201) throw new Error(issued.text)
    return { id: String(issued.json.key.id), secret: String(issued.json.secret) }
  }
  const call = async ({ secret }: { secret: string }): Promise<number> => {
    const url = `${product.baseUrl}/api/v1/intercept/up/x`
    const answer = await fetch(url, { headers: { 'X-API-Key': secret } })
    await answer.arrayBuffer()
    return answer.status
  }
  const signedIn = async (): Promise<number> => (await owner.call('GET /me')).status

  const lasting = await issue({})
  const limited = await issue({ rate_limit: { calls: 5, per_seconds: 1 } })
  const ending = await issue({
    expires_at: new Date(product.clock.now() + 12 * hourMs).toISOString(),
  })
  const revoked = await issue({})
  await owner.call(`POST /organizations/acme/keys/${revoked.id}/revoke`)
  for (const key of [lasting, limited, ending]) expect('a good key', await call(key), 200)
  const url = receiver.url
  const made = await owner.call('POST /organizations/acme/webhooks/endpoints', { url })
  expect('making an endpoint', made.status, 201)
  for (let at = 0; at < (options.short ? 30 : 200); at++) await issue({})

  /** Checks that the limit admits calls again once its window is over, wherever the clock has jumped. */
  const limitLives = async (when: string): Promise<void> => {
    for (let at = 0; at < 12; at++) await call(limited)
    await wait(1100)
    expect(`the limited key ${when}`, await call(limited), 200)
  }
  const always = async (when: string): Promise<void> => {
    expect(`a good key ${when}`, await call(lasting), 200)
    expect(`a revoked key ${when}`, await call(revoked), 401)
    await limitLives(when)
  }

  product.clock.forward(-hourMs)
  await always('an hour back')
  product.clock.forward(2 * hourMs)
  await always('an hour forward')
  expect('the session an hour forward', await signedIn(), 200)
  product.clock.forward(24 * hourMs)
  await always('a day forward')
  expect('the session a day forward', await signedIn(), 401)
  expect('a key that has ended', await call(ending), 401)
  product.clock.forward(-48 * hourMs)
  await always('two days back')
  expect('the session two days back', await signedIn(), 401)
  expect('a key that had ended, two days back', await call(ending), 401)
  product.clock.forward(23 * hourMs)
  for (let at = 0; at < 50; at++) {
    product.clock.forward(900)
    await wait(options.short ? 20 : 100)
  }
  await always('after running ten times too fast')
  if (receiver.maxAtOnce() > maxConcurrent) {
    findings.push(`${receiver.maxAtOnce()} deliveries at once to one endpoint`)
  }
  if (receiver.seen() === 0) findings.push('nothing was delivered')
  receiver.close()
  await wait(1000)
  const before = process.cpuUsage()
  const idleMs = options.short ? 2000 : 10_000
  await wait(idleMs)
  const { user, system } = process.cpuUsage(before)
  const idleShare = (user + system) / 1000 / idleMs
  if (idleShare > maxIdleShare) findings.push(`idle it takes ${Math.round(idleShare * 100)} %`)
  return {
    findings,
    figures: {
      attempts: receiver.seen(),
      most_at_once: receiver.maxAtOnce(),
      idle_cpu_percent: Math.round(idleShare * 1000) / 10,
    },
  }
}

/** Starts a receiver that answers each delivery with 500 after 50 ms; notes the most deliveries open at once. */
async function startFailingReceiver() {
  let open = 0
  let most = 0
  let seen = 0
  const server = createServer((request, response) => {
    seen++
    most = Math.max(most, ++open)
    request.resume()
    setTimeout(() => {
      open--
      response.writeHead(500).end()
    }, 50)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    maxAtOnce: () => most,
    close: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
