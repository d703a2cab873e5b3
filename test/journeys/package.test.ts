import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startServerProcess } from '../harness/server-process.ts'

const root = join(import.meta.dirname, '..', '..')

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-package-'))
  after(() => rmSync(folder, { recursive: true }))

  /** What npm would install, without a registry: the tarball unpacked, its dependencies beside it. */
  function install(tarball: string, name: string): string {
    const modules = join(folder, name, 'node_modules')
    mkdirSync(join(modules, 'intercept'), { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'intercept'), '--strip-components=1'])
    for (const dependency of readdirSync(join(root, 'node_modules'))) {
      symlinkSync(join(root, 'node_modules', dependency), join(modules, dependency))
    }
    return join(modules, 'intercept', 'bin', 'intercept.js')
  }

  function run(launcher: string, ...words: string[]): string {
    const done = spawnSync(process.execPath, [launcher, ...words], {
      encoding: 'utf8',
      timeout: 30_000,
      env: { PATH: process.env['PATH'], DATA_DIR: join(launcher, '..', '..', 'data') },
    })
    assert.equal(done.stderr, '')
    assert.equal(done.status, 0)
    return done.stdout.trim()
  }

  function tryOut(launcher: string): void {
    assert.match(run(launcher, '--version'), /^\d+\.\d+\.\d+$/)
    assert.match(run(launcher, '--help'), /^ {2}serve /m)
    run(launcher, 'org', 'create', 'acme')
    const { secret } = JSON.parse(
      run(launcher, 'key', 'issue', 'acme', '--name', 'ci', '--json'),
    ) as { secret: string }
    assert.match(secret, /^svc_live_/)
  }

  async function serve(launcher: string): Promise<void> {
    const env = { DATA_DIR: join(launcher, '..', '..', 'served') }
    await using server = await startServerProcess(env, launcher)
    const page = await fetch(server.baseUrl)
    assert.match(await page.text(), /<script type="module"/)
    const problem = await fetch(`${server.baseUrl}/problems/credential_missing`)
    assert.equal(problem.status, 200)
    assert.equal((await fetch(`${server.baseUrl}/api/v1/openapi.json`)).status, 200)
  }

  test('made by `npm run pack` it holds plain JavaScript, no test, and runs where npm puts it', async () => {
    execFileSync(process.execPath, [join(root, 'deploy', 'pack.ts'), '--to', folder], {
      stdio: 'ignore',
    })
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    const launcher = install(join(folder, tarball), 'plain')
    const files = readdirSync(join(launcher, '..', '..', 'src'), { recursive: true })
    assert.deepEqual(
      files.filter((name) => String(name).endsWith('.ts')),
      [],
    )
    tryOut(launcher)
    await serve(launcher)
    rmSync(join(folder, tarball))
  })

  test('made by a bare `npm pack` it runs too', () => {
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    tryOut(install(join(folder, tarball), 'source'))
  })
})
