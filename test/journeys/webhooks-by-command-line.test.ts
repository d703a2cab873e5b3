import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { run } from '../../src/cli/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { start } from '../../src/main.ts'
import { startReceiver } from '../harness/receiver.ts'
import { intercept } from '../harness/terminal.ts'
import { until } from '../harness/webhooks.ts'

describe('operator: webhooks by the command line', { timeout: 60_000 }, () => {
  test('an endpoint is added, pinged, verified by `intercept receive`, and removed', async () => {
    await using stack = new AsyncDisposableStack()
    const folder = mkdtempSync(join(tmpdir(), 'intercept-test-'))
    stack.defer(() => rmSync(folder, { recursive: true }))
    const env = { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' }
    const log = createLog({ level: 'silent' })
    stack.use(await start(readConfig(env), { log }))

    async function answerOf(words: string): Promise<Record<string, string>> {
      const { code, out, err } = await intercept([...words.split(' '), '--json'], { env })
      assert.equal(code, 0, err)
      return JSON.parse(out) as Record<string, string>
    }

    await answerOf('org create acme')
    const { secret, standard_secret: standard } = await answerOf('webhook secret acme')
    assert.equal(secret?.slice(4), standard)

    // `receive` forwards the deliveries that it has verified to a developer's application.
    const application = stack.use(await startReceiver())
    application.answer = (response) => response.writeHead(202).end()
    const lines: string[] = []
    let stop: () => void = () => undefined
    const receiving = run(
      ['receive', '--port', '0', '--secret-stdin', '--forward', `${application.url}/hook`],
      {
        env,
        isPerson: false,
        print: (line) => void lines.push(line),
        complain: (line) => void lines.push(line),
        readInput: async () => `${secret}\n`,
        untilStopped: async () => await new Promise((resolve) => (stop = resolve)),
      },
    )
    stack.defer(async () => {
      stop()
      await receiving
    })
    await until(() => lines.length > 0, 'the receiver listens')
    const url = /http:\S+/.exec(lines[0] ?? '')?.[0] ?? ''

    const endpoint = await answerOf(`webhook add acme --url ${url}`)
    assert.match(endpoint['id'] ?? '', /^ep_/)
    const ping = await answerOf(`webhook ping ${endpoint['id']}`)
    await until(() => lines.length > 1, 'the ping')
    assert.match(lines[1] ?? '', /webhook\.ping +verified +evt_\w+ +forwarded: 202/)
    assert.ok(lines[1]?.includes(ping['event_id'] ?? '–'))
    assert.equal(application.arrivals[0]?.headers['webhook-id'], ping['event_id'])

    // A forged delivery is reported and refused, and does not reach the application.
    const forged = await fetch(url, { method: 'POST', body: '{"type":"webhook.ping"}' })
    assert.equal(forged.status, 400)
    await until(() => lines.length > 2, 'the forgery')
    assert.doesNotMatch(lines[2] ?? '', / verified|forwarded/)
    assert.equal(application.arrivals.length, 1)
    lines.pop()

    await answerOf('webhook secret acme --rotate')
    await answerOf('webhook ping acme')
    await until(() => lines.length > 2, 'the second ping')
    assert.match(lines[2] ?? '', /verified/, 'the old secret still verifies for 24 h')

    await until(async () => {
      const [listed] = JSON.parse(
        (await intercept(['webhook', 'list', 'acme', '--json'], { env })).out,
      ) as { deliveries: { delivered: number } }[]
      return listed?.deliveries.delivered === 2
    }, 'the list counts both')

    await answerOf('webhook secret acme --rotate --leaked')
    await answerOf('webhook ping acme')
    await until(() => lines.length > 3, 'the third ping')
    assert.match(lines[3] ?? '', /no signature matches/, 'a leaked secret signs nothing any more')
    assert.equal(application.arrivals.length, 2)

    const told: string[] = []
    const asJson = run(['receive', '--port', '0', '--json'], {
      env,
      isPerson: false,
      print: (line) => void told.push(line),
      complain: (line) => void told.push(line),
      readInput: async () => '',
      untilStopped: async () => await until(() => told.length > 1, 'a delivery'),
    })
    await until(() => told.length > 0, 'the receiver listens')
    const body = '{"type":"webhook.ping"}'
    await fetch((JSON.parse(told[0] ?? '') as { url: string }).url, { method: 'POST', body })
    await asJson
    const { at: _, ...said } = JSON.parse(told[1] ?? '') as Record<string, unknown>
    const wanted = { id: null, type: 'webhook.ping', verdict: 'unverified', forwarded: null }
    assert.deepEqual(said, wanted)

    await answerOf(`webhook remove acme ${endpoint['id']}`)
    const gone = await intercept(['webhook', 'ping', endpoint['id'] ?? ''], { env })
    assert.equal(gone.code, 1)
    for (const wrong of ['http://10.0.0.1/', 'http://169.254.169.254/', 'ftp://127.0.0.1/']) {
      const refused = await intercept(['webhook', 'add', 'acme', '--url', wrong], { env })
      assert.equal(refused.code, 1, wrong)
    }
  })
})
