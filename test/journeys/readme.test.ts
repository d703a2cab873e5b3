import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { spawn } from 'node:child_process'
import { startServerProcess } from '../harness/server-process.ts'

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

describe('the README is a test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-readme-'))
  after(() => rmSync(folder, { recursive: true }))

  test('the lines of "Use it" work as they stand, one after another', async () => {
    const upstream = createServer((request, response) =>
      response.end(`hello from ${request.url}\n`),
    )
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    const { port: upstreamPort } = upstream.address() as { port: number }

    assert.deepEqual(blocks('serve'), ['npx interceptd serve\n'])
    await using server = await startServerProcess({ DATA_DIR: join(folder, 'data') })
    const port = new URL(server.baseUrl).port
    const script = blocks('run')
      .join('\n')
      .replaceAll('localhost:8080', `localhost:${port}`)
      .replaceAll('localhost:3000', `localhost:${upstreamPort}`)
    const said = await bash(script, { PORT: port, DATA_DIR: join(folder, 'data') })
    upstream.closeAllConnections()
    upstream.close()

    assert.equal(said.code, 0, said.out)
    assert.match(said.out, /^hello from \/hello$/m)
    assert.match(said.out, /is revoked; refused on the one node after/)
    assert.match(said.out, /"code":"credential_revoked"/)
    assert.match(said.out, /"secret":"svc_whsec_/)
  })

  test('every command that it names exists', () => {
    const launcher = join(root, 'bin', 'intercept.js')
    const help = spawnSync(process.execPath, [launcher, '--help'], { encoding: 'utf8' }).stdout
    for (const [, name = ''] of readme.matchAll(/npx interceptd ([a-z][a-z-]*)/g)) {
      assert.match(help, new RegExp(`^ {2}${name} `, 'm'))
    }
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    for (const [, name = ''] of readme.matchAll(/npm run ([a-z]+)/g))
      assert.ok(name in scripts, name)
  })

  test('every file that it links to exists', () => {
    for (const [, path = ''] of readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      assert.ok(existsSync(join(root, path)), path)
    }
  })

  /** Runs lines in a shell where `npx interceptd` is this checkout. */
  async function bash(script: string, env: Record<string, string>) {
    const bin = join(folder, 'bin')
    mkdirSync(bin, { recursive: true })
    const npx = join(bin, 'npx')
    const launcher = join(root, 'bin', 'intercept.js')
    writeFileSync(npx, `#!/bin/sh\nshift\nexec "${process.execPath}" "${launcher}" "$@"\n`)
    chmodSync(npx, 0o755)
    const path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
    const child = spawn('bash', ['-e', '-o', 'pipefail'], {
      cwd: folder,
      env: { ...env, PATH: path },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 60_000,
    })
    let out = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece: Buffer) => {
        out += piece.toString()
      })
    }
    child.stdin.end(script)
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, out }
  }
})

/** Finds the README's shell blocks with a tag: those with `run` are run, the one with `serve` starts the server. */
function blocks(tag: string): string[] {
  const fence = new RegExp(`^\`\`\`sh ${tag}\\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...readme.matchAll(fence)].map(([, lines = '']) => lines)
}
