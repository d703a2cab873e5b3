import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startServerProcess } from '../harness/server-process.ts'

const root = join(import.meta.dirname, '..', '..')

describe('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-package-'))
  after(() => rmSync(folder, { recursive: true }))

  /** Does what npm would do, without a registry: unpacks the tarball and puts its dependencies next to it. */
  function install(tarball: string, name: string): string {
    const modules = join(folder, name, 'node_modules')
    mkdirSync(join(modules, 'interceptd'), { recursive: true })
    execFileSync('tar', [
      '-xzf',
      tarball,
      '-C',
      join(modules, 'interceptd'),
      '--strip-components=1',
    ])
    for (const dependency of readdirSync(join(root, 'node_modules'))) {
      symlinkSync(join(root, 'node_modules', dependency), join(modules, dependency))
    }
    return join(modules, 'interceptd', 'bin', 'intercept.js')
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

  /** Checks that a command loads none of Kysely's own files: loading them would take a third of the start-up time. */
  function readsKyselyAsOneFile(launcher: string): void {
    const script = `import { registerHooks } from 'node:module'
      let files = 0
      registerHooks({ load(url, context, next) { files += url.includes('/kysely/dist/'); return next(url, context) } })
      process.on('exit', () => console.error(files))`
    const counting = `data:text/javascript,${encodeURIComponent(script)}`
    const { stderr } = spawnSync(
      process.execPath,
      ['--import', counting, launcher, 'key', 'list', 'acme'],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], DATA_DIR: join(launcher, '..', '..', 'data') },
      },
    )
    assert.equal(stderr.trim(), '0')
  }

  /** Checks that a program of another project can start a node, and that the types fit. */
  function embed(project: string): void {
    const program = `import { start, type RunningNode } from 'interceptd'
const node: RunningNode = await start({ PORT: '0', DATA_DIR: './embedded', LOG_LEVEL: 'silent' })
console.log((await fetch(new URL('/readyz', node.baseUrl))).status)
await node[Symbol.asyncDispose]()
`
    const file = join(project, 'embed.mts')
    writeFileSync(file, program)
    const options = { cwd: project, encoding: 'utf8', timeout: 60_000 } as const
    const { stdout, stderr } = spawnSync(process.execPath, [file], options)
    assert.equal(stdout.trim(), '200', stderr)
    const compiler = join(root, 'node_modules', '.bin', 'tsc')
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024']
    const libraries = ['--lib', 'es2024,esnext.disposable', '--types', 'node']
    const checked = spawnSync(compiler, ['--ignoreConfig', ...flags, ...libraries, file], options)
    assert.equal(checked.status, 0, checked.stdout)
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
    const home = join(launcher, '..', '..')
    const files = readdirSync(join(home, 'src'), { recursive: true }).map(String)
    assert.deepEqual(
      files.filter((name) => /\.test\.|(?<!\.d)\.ts$/.test(name)),
      [],
    )
    const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as object
    assert.deepEqual(
      ['devDependencies', 'optionalDependencies', 'scripts'].filter((name) => name in manifest),
      [],
    )
    tryOut(launcher)
    readsKyselyAsOneFile(launcher)
    embed(join(home, '..', '..'))
    await serve(launcher)
    rmSync(join(folder, tarball))
  })

  test('an older Node is given exactly the runtime that the lock file names', () => {
    const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8')) as unknown
    const { packages: locked } = read('package-lock.json') as {
      packages: Record<string, { version: string; integrity: string }>
    }
    const { version, packages } = read('bin/node-runtime.json') as {
      version: string
      packages: Record<string, { name: string; integrity: string }>
    }
    for (const { name, integrity } of Object.values(packages)) {
      const entry = locked[`node_modules/${name}`]
      assert.deepEqual(
        { version, integrity },
        { version: entry?.version, integrity: entry?.integrity },
      )
    }
  })

  test('made by a bare `npm pack` it runs too', () => {
    execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, stdio: 'ignore' })
    const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
    tryOut(install(join(folder, tarball), 'source'))
  })
})
