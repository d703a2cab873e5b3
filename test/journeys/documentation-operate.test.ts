// Tries the settings and commands that the documentation gives to operators in blocks marked `sh checked`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { portForTests } from '../harness/ports.ts'
import { readLogs } from '../harness/otlp.ts'
import { postgresCluster } from '../harness/postgres-cluster.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { intercept } from '../harness/terminal.ts'
import { until } from '../harness/webhooks.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')

describe('what the documentation tells operators', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-operate-'))
  after(() => rmSync(folder, { recursive: true }))

  test('a node starts with the settings of operate/deploy, and is ready and measured', async () => {
    await using database = await postgresForTests()
    const metrics = await portForTests()
    const env = settingsOf('operate/deploy', {
      '/run/secrets/database-url': secretFile('database-url', database.url),
      '/run/secrets/intercept-secret': secretFile('secret', randomBytes(32).toString('base64')),
      '9090': String(metrics),
      // A test has no load balancer to wait for.
      '5s': '0s',
    })
    await using server = await startServerProcess({ ...env, DATA_DIR: join(folder, 'deployed') })
    assert.equal(server.baseUrl, 'https://api.example.com')
    const [, port] = /"port":(\d+)/.exec(server.lines.join('\n')) ?? []
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
    await until(isReady, 'the node is ready')
    const measured = await fetch(`http://127.0.0.1:${metrics}/metrics`)
    assert.match(await measured.text(), /^intercept_build_info\{/m)
    assert.ok(!existsSync(join(folder, 'deployed', 'secret.key')), 'the secret of the file is used')
  })

  test('the setting of guides/export-logs sends audit entries to a collector', async () => {
    const actions: string[] = []
    const collector = createServer((request, response) => {
      void (async () => {
        const body = await text(request)
        assert.equal(request.url, '/v1/logs')
        actions.push(...readLogs(body).map(({ eventName }) => eventName))
        response.writeHead(200).end('{}')
      })()
    })
    collector.listen(0, '127.0.0.1')
    await once(collector, 'listening')
    const { port } = collector.address() as { port: number }
    const settings = settingsOf('guides/export-logs', { 'collector:4318': `127.0.0.1:${port}` })
    const env = { ...settings, DATA_DIR: join(folder, 'logs') }
    try {
      await using server = await startServerProcess(env)
      const { code, err } = await intercept(['org', 'create', 'acme'], { env })
      assert.equal(code, 0, err)
      await until(() => actions.includes('audit.organization.created'), 'the entry arrives')
      server.kill('SIGTERM')
      await server.ended
    } finally {
      collector.closeAllConnections()
      collector.close()
    }
  })

  const programs = postgresWithDump()
  const why =
    programs === undefined ? ' (skipped: no PostgreSQL with pg_dump is installed here)' : ''
  test(
    `the commands of operate/backup bring a PostgreSQL database back as it was, and delete nothing for a torn dump${why}`,
    {
      skip: programs === undefined,
    },
    async () => {
      const native = programs ?? ''
      await using cluster = await postgresCluster(tmpdir(), { native, isCopy: false })
      const env = { DATA_DIR: join(folder, 'dumped'), DATABASE_URL: cluster.url }
      const organizations = async (): Promise<string> => {
        const { code, out, err } = await intercept(['org', 'list', '--json'], { env })
        assert.equal(code, 0, err)
        return out
      }
      const [backUp = '', restore = ''] = blocksIn('operate/backup')
      const run = (block: string) => {
        const path = `${join(native, 'bin')}:${process.env['PATH'] ?? ''}`
        return spawnSync('sh', ['-ec', block], {
          cwd: folder,
          env: { ...env, PATH: path },
          encoding: 'utf8',
        })
      }

      await intercept(['org', 'create', 'acme'], { env })
      const before = await organizations()
      const backedUp = run(backUp)
      assert.equal(backedUp.status, 0, backedUp.stderr)
      await intercept(['org', 'create', 'later'], { env })
      assert.match(await organizations(), /later/)
      const dump = join(folder, 'intercept.dump')
      const whole = readFileSync(dump)
      writeFileSync(dump, whole.subarray(0, -1000))
      assert.notEqual(run(restore).status, 0)
      assert.match(await organizations(), /later/, 'a torn dump deletes nothing')

      writeFileSync(dump, whole)
      const restored = run(restore)
      assert.equal(restored.status, 0, restored.stderr)
      assert.equal(await organizations(), before)
    },
  )

  function secretFile(name: string, content: string): string {
    const path = join(folder, name)
    writeFileSync(path, `${content}\n`, { mode: 0o600 })
    return path
  }
})

/** Reads the settings that a page shows, with some values replaced by our own. */
function settingsOf(page: string, own: Readonly<Record<string, string>>): Record<string, string> {
  let lines = blocksIn(page).join('')
  for (const [theirs, ours] of Object.entries(own)) {
    assert.ok(lines.includes(theirs), `${page} says ${theirs} no more`)
    lines = lines.replaceAll(theirs, ours)
  }
  return Object.fromEntries(
    lines
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', ...value] = line.split('=')
        return [name, value.join('=')]
      }),
  )
}

/** Reads the blocks of a page that are marked `sh checked`. */
function blocksIn(page: string): string[] {
  const markdown = readFileSync(join(docs, `${page}.md`), 'utf8')
  const blocks = markdown.matchAll(/^```sh checked\n([\s\S]*?)^```$/gm)
  return [...blocks].map(([, lines = '']) => lines)
}

/** Finds the folder of an installed PostgreSQL that includes pg_dump, which the one from npm lacks. */
function postgresWithDump(): string | undefined {
  const [newest] = globSync('/usr/{lib/postgresql/*,pgsql-*,local/pgsql}/bin/pg_dump')
    .filter((path) => existsSync(join(dirname(path), 'initdb')))
    .toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
  return newest === undefined ? undefined : dirname(dirname(newest))
}
