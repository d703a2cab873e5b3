// Runs the programs in examples/ in each language that is installed on this machine.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { cacheFolder } from '../harness/cache-folder.ts'
import { startExample, type ExampleProgram } from '../harness/example-program.ts'
import { gatewayForTests, until, type TestGateway } from '../harness/gateway.ts'
import { findProgram } from '../harness/proxy-program.ts'

const root = join(import.meta.dirname, '..', '..')
const examples = join(root, 'examples')
const go = findProgram('go')
const python = findProgram('python3')
const java = findProgram('java')
const php = findProgram('php')
const ruby = findProgram('ruby')

interface Language {
  readonly name: string
  readonly command: string | undefined
  readonly missing: string
  readonly args: (port: number) => readonly string[]
  readonly sign?: RegExp
}

const receivers: readonly Language[] = [
  language('Node', process.execPath, () => ['receiver.mjs']),
  language('Python', python, () => ['receiver.py']),
  language('Go', go, () => ['run', 'receiver.go']),
  language('Java', java, () => ['Receiver.java']),
  {
    ...language('PHP', php, (port) => ['-S', `127.0.0.1:${port}`, 'receiver.php']),
    sign: /http:\/\/127\.0\.0\.1:(\d+)\) started/,
  },
  language('Ruby', ruby, () => ['receiver.rb']),
]

const hasPackage = (name: string) => existsSync(join(root, 'node_modules', name))
const fastapi =
  python && spawnSync(python, ['-c', 'import fastapi, jwt, uvicorn']).status === 0
    ? python
    : undefined
const upstreams: readonly Language[] = [
  language('Fastify', process.execPath, () => ['fastify/server.mjs']),
  language('Next.js', process.execPath, () => ['--input-type=module', '-e', nextServer]),
  {
    ...language('Express', hasPackage('express') ? process.execPath : undefined, () => [
      'express/server.mjs',
    ]),
    missing: 'express is not installed',
  },
  language('Go', go, () => ['run', 'go/main.go']),
  {
    ...language('FastAPI', fastapi, (port) => [
      '-m',
      'uvicorn',
      'server:app',
      '--app-dir',
      'fastapi',
      '--port',
      `${port}`,
    ]),
    missing: 'fastapi, uvicorn and pyjwt are not installed',
    sign: /running on http:\/\/127\.0\.0\.1:(\d+)/,
  },
]

// Calls the route handler with a Request, as Next.js does.
const nextServer = `
import { createServer } from 'node:http'
import { GET } from './nextjs/route.mjs'
const server = createServer(async (request, response) => {
  const answer = await GET(new Request('http://localhost' + request.url, { headers: request.headers }))
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
})
server.listen(process.env.PORT, '127.0.0.1', () => console.log('listening at ' + server.address().port))`

describe('examples', () => {
  const cache = mkdtempSync(join(tmpdir(), 'intercept-examples-'))
  let gateway: TestGateway

  before(async () => {
    gateway = await gatewayForTests()
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    rmSync(cache, { recursive: true, force: true })
  })

  async function start(
    { command, args, sign }: Language,
    folder: string,
    env: Record<string, string>,
  ): Promise<ExampleProgram> {
    const port = await portForTests()
    return await startExample({
      command: command ?? '',
      args: args(port),
      cwd: join(examples, folder),
      env: {
        ...env,
        PORT: String(port),
        GOCACHE: join(cacheFolder, 'intercept-go-cache'),
        GO111MODULE: 'off',
      },
      ...(sign === undefined ? {} : { sign }),
    })
  }

  for (const [at, one] of upstreams.entries()) {
    test(named(one, 'lets calls of Intercept in, and nobody else'), skipOf(one), async () => {
      const slug = `api-${at}`
      const issuer = gateway.product.baseUrl
      await using program = await start(one, 'upstreams', {
        INTERCEPT_ISSUER: issuer,
        TARGET: slug,
      })
      const address = `http://127.0.0.1:${program.port}`
      await gateway.run('target', 'set', 'acme', slug, '--upstream', address, '--assertion')
      const through = await gateway.call(`/${slug}/hello`, gateway.xApiKey)
      assert.equal(through.status, 200, program.lines.join('\n'))
      assert.deepEqual(await through.json(), { organization: 'acme', key: gateway.xApiKey.id })

      assert.equal((await fetch(`${address}/hello`)).status, 401)
      const forged = { 'Intercept-Assertion': 'eyJhbGciOiJub25lIn0.e30.x' }
      assert.equal((await fetch(`${address}/hello`, { headers: forged })).status, 401)
      // This call carries a valid assertion, but one that is made for another target.
      await gateway.run('target', 'set', 'acme', 'elsewhere', '--upstream', address, '--assertion')
      assert.equal((await gateway.call('/elsewhere/hello', gateway.xApiKey)).status, 401)
    })
  }

  for (const one of receivers) {
    test(named(one, 'takes genuine deliveries and refuses forged ones'), skipOf(one), async () => {
      const { secret } = await gateway.run('webhook', 'secret', 'acme')
      const env = { WEBHOOK_SECRET: String(secret) }
      await using program = await start(one, 'receivers', env)
      const url = `http://127.0.0.1:${program.port}/`
      const forged = await fetch(url, {
        method: 'POST',
        body: '{"id":"evt_forged","type":"ping"}',
        headers: {
          'webhook-id': 'evt_forged',
          'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
          'webhook-signature': 'v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
        },
      })
      assert.equal(forged.status, 401, program.lines.join('\n'))
      const { id } = await gateway.run('webhook', 'add', 'acme', '--url', url)
      await gateway.run('webhook', 'ping', String(id))
      await until(() => program.lines.some((line) => /\bevt_(?!forged)/.test(line)))
      assert.ok(!program.lines.some((line) => line.includes('evt_forged')))
      await gateway.run('webhook', 'remove', String(id))
    })
  }
})

function language(
  name: string,
  command: string | undefined,
  args: (port: number) => readonly string[],
): Language {
  return { name, command, args, missing: `${name} is not installed` }
}

function named({ name, command, missing }: Language, does: string): string {
  return command === undefined ? `${name} ${does}: skipped, ${missing}` : `${name} ${does}`
}

function skipOf({ command, missing }: Language): { skip: string | false } {
  return { skip: command === undefined && missing }
}
