// The documentation is a test: what stands in blocks marked `sh run` works as it stands, page by page.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { freePort } from '../../src/http/index.ts'
import { productForTests } from '../harness/product.ts'

const root = join(import.meta.dirname, '..', '..')
const launcher = join(root, 'bin', 'intercept.js')

/** What a page's lines must have printed. */
const printed: Readonly<Record<string, readonly RegExp[]>> = {
  'start/tutorial': [
    /"intercept-organization": "acme"/,
    /"code":"rule_denied"/,
    /verified/,
    /ada@example\.com/,
    /"code":"credential_revoked"/,
  ],
  'operate/backup': [/The database is in .*intercept-backup\.db/],
  'how-to/migrate-keys': [/^2 keys\.jsonl$/m],
  'how-to/verify-assertions': [/"alg":"ES256"/],
}

describe('the documentation is a test', { concurrency: 2 }, () => {
  const bin = mkdtempSync(join(tmpdir(), 'intercept-documentation-'))
  after(() => rmSync(bin, { recursive: true }))
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec "${process.execPath}" "${launcher}" "$@"\n`,
  )
  chmodSync(join(bin, 'npx'), 0o755)

  for (const file of globSync('docs/**/*.md', { cwd: root }).toSorted()) {
    const script = blocksOf(readFileSync(join(root, file), 'utf8'))
    const name = file.replace(/^docs\/|\.md$/g, '')
    if (script === '') continue
    test(`${name}: its commands work one after another`, async () => {
      await using product = await productForTests()
      const receiver = await freePort('127.0.0.1')
      const here = script
        .replaceAll('localhost:8080', `localhost:${product.port}`)
        .replaceAll('localhost:9000', `localhost:${receiver}`)
        .replaceAll('--port 9000', `--port ${receiver}`)
      const said = await bash(here, product)
      assert.equal(said.code, 0, said.out)
      for (const words of printed[name] ?? []) assert.match(said.out, words)
    })
  }

  async function bash(
    script: string,
    product: { env: Readonly<Record<string, string>>; folder: string },
  ) {
    const cwd = join(product.folder, 'terminal')
    mkdirSync(cwd)
    const path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
    const child = spawn('bash', ['-e', '-o', 'pipefail'], {
      cwd,
      env: { ...product.env, PATH: path },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: 120_000,
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

function blocksOf(markdown: string): string {
  return [...markdown.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)]
    .map(([, lines = '']) => lines)
    .join('\n')
}
