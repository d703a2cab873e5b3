// npm run try-package [-- --node path …]: packs, installs the package in an empty folder under each Node, makes a
// newcomer's first guarded call and opens the dashboard; prints how long that took and how much disk space it uses.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const maxSeconds = 60
const commandTimeoutMs = 300_000
const { values } = parseArgs({ options: { node: { type: 'string', multiple: true } } })
const folder = mkdtempSync(join(tmpdir(), 'intercept-try-'))

try {
  const pack = [join(root, 'deploy', 'pack.ts'), '--to', folder]
  execFileSync(process.execPath, pack, { stdio: 'ignore' })
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  console.log(`${'node'.padEnd(10)} install  first call  dashboard   all     installed`)
  for (const node of values.node ?? nodesHere()) await tryUnder(node, join(folder, tarball))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Returns the Node that runs this script, and the first one in PATH with another major version. */
function nodesHere(): string[] {
  const major = (node: string): string => versionOf(node).split('.')[0] ?? ''
  const others = (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((part) => join(part, 'node'))
    .filter((path) => existsSync(path) && major(path) !== major(process.execPath))
  return [...others.slice(0, 1), process.execPath]
}

function versionOf(node: string): string {
  return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
}

async function tryUnder(node: string, tarball: string): Promise<void> {
  const version = versionOf(node)
  const home = join(folder, version)
  const bin = join(folder, `${version}-bin`)
  mkdirSync(home)
  mkdirSync(bin)
  symlinkSync(node, join(bin, 'node'))
  writeFileSync(join(home, 'package.json'), '{}')
  const env = { ...withoutNpm(), PATH: [bin, process.env['PATH']].join(delimiter), PORT: '0' }
  const run = (program: string, ...words: string[]): string =>
    execFileSync(program, words, { cwd: home, env, encoding: 'utf8', timeout: commandTimeoutMs })
  const times: number[] = [performance.now()]

  run('npm', 'install', '--no-audit', '--no-fund', tarball)
  times.push(performance.now())

  const server = spawn('npx', ['interceptd', 'serve'], { cwd: home, env })
  try {
    const port = await portOf(server)
    run('npx', 'interceptd', 'org', 'create', 'acme')
    const upstream = 'http://echo.intercept.internal/'
    run('npx', 'interceptd', 'target', 'set', 'acme', 'echo', '--upstream', upstream)
    const issued = run('npx', 'interceptd', 'key', 'issue', 'acme', '--name', 'first', '--json')
    const { secret } = JSON.parse(issued) as { secret: string }
    const called = await fetch(`http://127.0.0.1:${port}/api/v1/intercept/echo/hello`, {
      headers: { 'x-api-key': secret },
    })
    if (!called.ok) throw new Error(`the call was refused: ${await called.text()}`)
    times.push(performance.now())

    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text()
    const [, script = 'none'] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? []
    const loaded = await fetch(`http://127.0.0.1:${port}${script}`)
    if (!loaded.ok) throw new Error(`the dashboard's ${script} is not there`)
    times.push(performance.now())
  } finally {
    server.kill('SIGTERM')
    if (server.exitCode === null) await once(server, 'close')
  }
  report(version, times, join(home, 'node_modules'))
}

/** Removes the variables that `npm run` sets, which would make the inner npm believe that it works in this project. */
function withoutNpm(): NodeJS.ProcessEnv {
  const ofScript = /^(npm_(?!config_)|npm_config_local_prefix$|INIT_CWD$|NODE$|NODE_COMPILE_CACHE$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofScript.test(name)))
}

async function portOf(server: ChildProcess): Promise<string> {
  const said: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  for (const stream of [server.stdout, server.stderr]) {
    if (stream === null) continue
    createInterface(stream).on('line', (line) => {
      said.push(line)
      const [, port] = /Intercept listens at http:\/\/[^:]+:(\d+)/.exec(line) ?? []
      if (port !== undefined) resolve(port)
    })
  }
  server.once('close', () => reject(new Error(`the node ended:\n${said.join('\n')}`)))
  return await promise
}

/**
 * Returns the size of the files' contents, and the disk space that they occupy, which is larger because many files are
 * small.
 */
function sizeOf(path: string): { readonly bytes: number; readonly onDisk: number } {
  const files = readdirSync(path, { recursive: true }).map((name) =>
    lstatSync(join(path, String(name))),
  )
  return {
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    onDisk: files.reduce((sum, { blocks }) => sum + blocks * 512, 0),
  }
}

function report(version: string, times: readonly number[], home: string): void {
  const seconds = times.slice(1).map((at, index) => (at - (times[index] ?? 0)) / 1000)
  const all = seconds.reduce((sum, one) => sum + one, 0)
  const columns = [...seconds, all].map((one) => `${one.toFixed(1)} s`.padEnd(10)).join(' ')
  const { bytes, onDisk } = sizeOf(home)
  const size = `${(bytes / 1e6).toFixed(1)} MB (${(onDisk / 1e6).toFixed(1)} MB on the disk)`
  console.log(`${version.padEnd(10)} ${columns} ${size}`)
  if (all > maxSeconds) {
    console.log(`${version}: longer than the ${maxSeconds} s that a newcomer is promised`)
    process.exitCode = 1
  }
}
