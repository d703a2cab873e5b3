// Runs the samples for nginx, Caddy and HAProxy with the real programs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { WebSocket, WebSocketServer } from 'ws'
import { portForTests } from '../harness/ports.ts'
import { gatewayForTests, until, type IssuedKey, type TestGateway } from '../harness/gateway.ts'
import { findProgram, type ProxyProgram } from '../harness/proxy-program.ts'
import { startCaddy, startHaproxy, startNginx } from '../harness/proxy-samples.ts'
import { exchangeRaw } from '../harness/raw.ts'

/** Headers with which a caller could claim another identity, address, host, URL or method. */
const forged = [
  'Intercept-Organization',
  'Intercept-Organization-Id',
  'Intercept-Key-Id',
  'Intercept-Target',
  'Intercept-Request-Id',
  'Intercept-Assertion',
  'Intercept_Key_Id',
  'intercept.key.id',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X_Forwarded_For',
  'X.Forwarded.Host',
  'Forwarded',
  'X-Real-IP',
  'X_Real_IP',
  'X.Real.IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'X-Original-Host',
  'X-Host',
  'X-Override-URL',
  'X-MS-Original-URL',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
  'Client-Cert',
]

interface Started {
  readonly port: number
  readonly stop: () => Promise<void>
}

interface Case {
  readonly name: string
  readonly program: string
  /** Whether the proxy forwards calls itself and asks Intercept only for the decision. */
  readonly asks: boolean
  start(intercept: number, upstream: number): Promise<Started>
}

const cases: readonly Case[] = [
  {
    name: 'nginx in front',
    program: 'nginx',
    asks: false,
    start: async (intercept, upstream) => {
      const [proxy, other] = [await portForTests(), await portForTests()]
      return started(await startNginx({ proxy, other, intercept, upstream }))
    },
  },
  {
    name: 'nginx that asks (auth_request)',
    program: 'nginx',
    asks: true,
    start: async (intercept, upstream) => {
      const [proxy, other] = [await portForTests(), await portForTests()]
      const nginx = await startNginx({ proxy, other, intercept, upstream })
      return { port: other, stop: async () => await nginx[Symbol.asyncDispose]() }
    },
  },
  {
    name: 'Caddy in front',
    program: 'caddy',
    asks: false,
    start: async (intercept, upstream) =>
      started(await startCaddy('Caddyfile', { proxy: await portForTests(), intercept, upstream })),
  },
  {
    name: 'Caddy that asks (forward_auth)',
    program: 'caddy',
    asks: true,
    start: async (intercept, upstream) =>
      started(
        await startCaddy('check.Caddyfile', {
          proxy: await portForTests(),
          intercept,
          upstream,
        }),
      ),
  },
  {
    name: 'HAProxy in front',
    program: 'haproxy',
    asks: false,
    start: async (intercept, upstream) =>
      started(await startHaproxy({ proxy: await portForTests(), intercept, upstream })),
  },
]

function started(program: ProxyProgram): Started {
  return { port: program.port, stop: async () => await program[Symbol.asyncDispose]() }
}

for (const { name, program, asks, start } of cases) {
  if (findProgram(program) === undefined) {
    test(`${name}: not tested here, because ${program} is not installed`, { skip: true })
    continue
  }
  describe(name, () => {
    let gateway: TestGateway
    let sockets: WebSocketServer
    let proxy: Started
    let limited: IssuedKey
    let elsewhere: IssuedKey
    let endEvents: (() => void) | undefined
    const base = asks ? '' : '/api/v1/intercept/orders'

    before(async () => {
      gateway = await gatewayForTests({
        settings: { TRUSTED_PROXIES: '1' },
        answer: (request, response, body) => {
          if (request.url !== '/events') return void response.end(String(body.length))
          response.writeHead(200, { 'Content-Type': 'text/event-stream' })
          response.write('data: first\n\n')
          endEvents = () => response.end()
        },
      })
      sockets = new WebSocketServer({ noServer: true })
      gateway.upstream.onUpgrade((request, socket, head) => {
        sockets.handleUpgrade(request, socket, head, (peer) => {
          peer.send(`hello ${String(request.headers['intercept-key-id'])}`)
          peer.on('message', (data) => peer.send(data))
        })
      })
      const { url } = gateway.upstream
      const rules = ['--rule', 'deny DELETE /admin/*', '--rule', 'allow * /*']
      await gateway.run('target', 'set', 'acme', 'orders', '--upstream', url, ...rules)
      limited = await gateway.issue('--rate', '1/m')
      elsewhere = await gateway.issue('--grant', 'echo')
      proxy = await start(gateway.product.port, gateway.upstream.port)
      await until(async () => (await call('/ready')).status === 200)
    })
    after(async () => {
      endEvents?.()
      for (const client of sockets.clients) client.terminate()
      await proxy?.stop()
      await gateway[Symbol.asyncDispose]()
    })

    async function call(
      path: string,
      init: RequestInit = {},
      key = gateway.xApiKey,
    ): Promise<Response> {
      return await fetch(`http://127.0.0.1:${proxy.port}${base}${path}`, {
        ...init,
        headers: { 'X-API-Key': key.secret, ...(init.headers as Record<string, string>) },
      })
    }

    test(`P-samples: behind ${name}, nothing that a caller says of itself reaches the upstream`, async () => {
      gateway.upstream.seen.splice(0)
      for (const one of forged) {
        await exchangeRaw(
          proxy.port,
          `GET ${base}/x HTTP/1.1\r\nHost: called.example\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n${one}: forged-canary\r\nConnection: close\r\n\r\n`,
          { quietMs: 3000 },
        )
        const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
        assert.ok(!raw.join('\n').includes('forged-canary'), `${one}: ${raw.join(' ')}`)
      }
      assert.equal(gateway.upstream.seen.length, forged.length)
      const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
      const said = new Map(
        raw.flatMap((one, at) => (at % 2 ? [] : [[one.toLowerCase(), raw[at + 1]]])),
      )
      assert.equal(said.get('intercept-key-id'), gateway.xApiKey.id)
      assert.equal(said.get('intercept-organization'), 'acme')
      assert.match(said.get('intercept-organization-id') ?? '', /^org_/)
      assert.match(said.get('intercept-request-id') ?? '', /^req_/)
      assert.equal(said.get('x-forwarded-for')?.split(', ')[0], '127.0.0.1')
      assert.equal(said.get('x-forwarded-proto'), 'http')
      assert.match(said.get('x-forwarded-host') ?? '', /^called\.example/)
      assert.ok(!said.has('x-api-key') && !said.has('authorization'))
    })

    test(`P-samples: behind ${name}, the upstream can verify the assertion that it gets`, async () => {
      await gateway.run('target', 'set', 'acme', 'orders', '--assertion')
      gateway.upstream.seen.splice(0)
      const forgedToo = { headers: { 'Intercept-Assertion': 'eyJhbGciOiJub25lIn0.e30.x' } }
      assert.equal((await call('/assert', forgedToo)).status, 200)
      const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
      const heard = raw.filter((_, at) => raw[at - 1]?.toLowerCase() === 'intercept-assertion')
      assert.equal(heard.length, 1)
      const { baseUrl: issuer } = gateway.product
      const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
      const options = { issuer, audience: 'orders', algorithms: ['ES256'] }
      const { payload } = await jwtVerify(heard[0] ?? '', keys, options)
      assert.equal(payload.sub, gateway.xApiKey.id)
    })

    test(`P-samples: ${name} gives a refusal its own status and problem document`, async () => {
      const asked = gateway.upstream.seen.length
      const wrong = { id: '', secret: 'svc_live_wrong' }
      await (await call('/spent', {}, limited)).text()
      for (const [status, code, response] of [
        [400, 'path_ambiguous', await call('/a%5Cb')],
        [401, 'credential_invalid', await call('/x', {}, wrong)],
        [403, 'rule_denied', await call('/admin/x', { method: 'DELETE' })],
        [404, 'target_not_found', await call('/x', {}, elsewhere)],
        [429, 'rate_limited', await call('/x', {}, limited)],
      ] as const) {
        const problem = (await response.json()) as Record<string, unknown>
        assert.equal(response.status, status)
        assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/)
        assert.equal(problem['code'], code)
        assert.equal(problem['status'], status)
        assert.equal(typeof problem['detail'], 'string')
        assert.equal(response.headers.get('intercept-refused'), code)
        assert.equal(response.headers.get('intercept-request-id'), problem['request_id'])
        if (status === 401) assert.match(response.headers.get('www-authenticate') ?? '', /Bearer/)
        if (status === 429) assert.ok(Number(response.headers.get('retry-after')) >= 1)
      }
      assert.equal(gateway.upstream.seen.length, asked + 1)
    })

    test(`P-samples: ${name} passes 3 MB in and hears no 413`, async () => {
      const response = await call('/upload', { method: 'POST', body: Buffer.alloc(3_000_000, 'x') })
      assert.deepEqual([response.status, await response.text()], [200, '3000000'])
    })

    test(`P-samples: ${name} passes an event on before the stream ends`, async () => {
      const response = await call('/events')
      const reader = response.body?.getReader()
      const first = await reader?.read()
      assert.equal(Buffer.from(first?.value ?? []).toString(), 'data: first\n\n')
      endEvents?.()
      await reader?.cancel()
    })

    test(`P-samples: ${name} upgrades to a WebSocket, and only with a key`, async () => {
      const url = `ws://127.0.0.1:${proxy.port}${base}/chat`
      const socket = new WebSocket(url, { headers: { 'X-API-Key': gateway.xApiKey.secret } })
      const [hello] = (await once(socket, 'message')) as [Buffer]
      assert.equal(hello.toString(), `hello ${gateway.xApiKey.id}`)
      socket.send('ping')
      const [echoed] = (await once(socket, 'message')) as [Buffer]
      assert.equal(echoed.toString(), 'ping')
      socket.terminate()
      const refused = new WebSocket(url)
      const [error] = (await once(refused, 'error')) as [Error]
      assert.match(error.message, /401/)
    })

    test(`P-samples: without Intercept nothing passes ${name}`, async () => {
      const asked = gateway.upstream.seen.length
      const gone = await start(await portForTests(), gateway.upstream.port)
      try {
        const response = await fetch(`http://127.0.0.1:${gone.port}${base}/x`, {
          headers: { 'X-API-Key': gateway.xApiKey.secret },
        })
        assert.ok(response.status >= 500, String(response.status))
        assert.equal(gateway.upstream.seen.length, asked)
      } finally {
        await gone.stop()
      }
    })
  })
}
