// Runs the blocks of the documentation that are marked `sh run`, with ports and the texts in `given` replaced.
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
import { portForTests } from '../harness/ports.ts'
import { productForTests } from '../harness/product.ts'

const root = join(import.meta.dirname, '..', '..')
const launcher = join(root, 'bin', 'intercept.js')

/** What the commands of a page must print. */
const printed: Readonly<Record<string, readonly RegExp[]>> = {
  'start/tutorial': [
    /"intercept-organization": "acme"/,
    /"code":"rule_denied"/,
    /verified/,
    /ada@example\.com/,
    /"code":"credential_revoked"/,
  ],
  'operate/backup': [
    /The database is in .*intercept-backup\.db/,
    /intercept-backup\.db is now the database/,
  ],
  'guides/configuration': [/No differences\./],
  'guides/access-tokens': [/"billing worker"/, /is revoked/],
  'guides/receive-webhooks': [/webhook\.ping +verified/],
  'how-to/key-leaked': [/and works/, /"credential_revoked"/, /api_key\.revoked/],
  'how-to/migrate-keys': [/^2 keys\.jsonl$/m],
  'how-to/somebody-left': [
    /"deactivated_at":"2/,
    /member\.deactivated/,
    /"silent_nodes":0/,
    /\{"items":\[\]\}/,
  ],
  'how-to/verify-assertions': [/"alg":"ES256"/],
  'how-to/customers': [
    /"labels":\{"customer":"42"\}/,
    /"quota":\{"calls":100000,"period":"month","used":0/,
    /"state":"revoked"/,
    /"step_ms":86400000,"points":\[\{"at":"2026-11-01T00:00:00/,
  ],
  'operate/disaster': [/^\{"sessions":0,/m],
}

/** What a page assumes: commands to run before its own, and texts in its own commands to replace. */
const given: Readonly<
  Record<string, { before: string; words?: readonly (readonly [string, string])[] }>
> = {
  // The running node may take seconds to notice the restored database, and `doctor` rightly complains until then.
  'operate/backup': {
    before: '',
    words: [
      [
        'npx interceptd restore intercept-backup.db',
        'npx interceptd restore intercept-backup.db\nfor try in 1 2 3 4 5; do npx interceptd doctor > doctor.txt && break; done',
      ],
    ],
  },
  'operate/audit-log': {
    before: `npx interceptd org create acme
TOKEN=$(npx interceptd token issue acme --name page --permission audit.see --permission traffic.see --json | grep -o 'svc_admin_[A-Za-z0-9_]*' | tail -1)`,
    words: [
      ['https://intercept.example.com', 'http://localhost:8080'],
      ['svc_admin_…', '$TOKEN'],
    ],
  },
  'how-to/somebody-left': {
    before: `npx interceptd org create acme
npx interceptd member add acme ada@example.com --role developer
INTERCEPT_TOKEN=$(npx interceptd token issue acme --name page --permission members.manage --json | grep -o 'svc_admin_[A-Za-z0-9_]*' | tail -1)`,
    words: [['https://intercept.example.com', 'http://localhost:8080']],
  },
  'how-to/customers': {
    before: `npx interceptd org create acme
npx interceptd target set acme orders --upstream http://echo.intercept.internal
INTERCEPT_TOKEN=$(npx interceptd token issue acme --name portal --permission traffic.see --permission keys.issue --json | grep -o 'svc_admin_[A-Za-z0-9_]*' | tail -1)`,
    words: [['https://intercept.example.com', 'http://localhost:8080']],
  },
  'operate/disaster': {
    before: `npx interceptd org create acme
npx interceptd member add acme ada@example.com --role owner
npx interceptd member add acme bob@example.com --role viewer
INTERCEPT_TOKEN=$(npx interceptd token issue acme --name page --permission members.manage --json | grep -o 'svc_admin_[A-Za-z0-9_]*' | tail -1)`,
    words: [['https://intercept.example.com', 'http://localhost:8080']],
  },
  troubleshooting: { before: 'npx interceptd org create acme' },
  'operate/personal-data': {
    before: `npx interceptd org create acme
npx interceptd member add acme ada@example.com --role viewer`,
  },
  'how-to/key-leaked': {
    before: `npx interceptd org create acme
npx interceptd target set acme orders --upstream http://echo.intercept.internal
KEY=$(npx interceptd key issue acme --name billing --json)
SECRET=$(echo "$KEY" | grep -o 'svc_live_[A-Za-z0-9_]*' | tail -1)
KEY=$(echo "$KEY" | grep -o 'key_[a-z0-9]*' | head -1)
echo "$SECRET" > leaked-key`,
    words: [
      ['https://intercept.example.com', 'http://localhost:8080'],
      ['key_01hzy3k9v6m2d8q4t7w0x5c1bn', '$KEY'],
    ],
  },
  'guides/configuration': {
    before: 'npx interceptd org create acme',
    words: [['/run/keys.json', './keys.json']],
  },
  'guides/access-tokens': {
    before: `npx interceptd org create acme
npx interceptd target set acme payments --upstream http://echo.intercept.internal/
TOKEN=$(npx interceptd token issue acme --name page --permission traffic.see --permission keys.issue --json | grep -o 'svc_admin_[A-Za-z0-9_]*' | tail -1)
INTERCEPT_TOKEN=$TOKEN DEPLOYMENT_ID=1
KEY=$(INTERCEPT_SERVER=http://localhost:8080 INTERCEPT_TOKEN=$TOKEN npx interceptd key issue acme --name old --json | grep -o 'key_[a-z0-9]*' | head -1)`,
    words: [
      ['https://intercept.example.com', 'http://localhost:8080'],
      [`"svc_admin_…"}'`, `"'$TOKEN'"}'`],
      ['svc_admin_…', '$TOKEN'],
      ['key_01hzy3k9v6m2d8q4t7w0x5c1bn', '$KEY'],
    ],
  },
  // A reader types the next block in another terminal, so here the receiver runs in the background.
  'guides/receive-webhooks': {
    before: 'npx interceptd org create acme',
    words: [
      [
        'receive --secret-stdin\n',
        'receive --port 9000 --secret-stdin > received &\nuntil grep -q Receiving received; do sleep 0.1; done\n',
      ],
      [
        'webhook ping acme\n',
        'webhook ping acme\nuntil grep "webhook.ping  *verified" received; do sleep 0.1; done\nkill $!\n',
      ],
      ['http://127.0.0.1:9000', 'http://localhost:9000'],
    ],
  },
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
    const name = file.replace(/^docs\/|\.md$/g, '')
    const blocks = blocksOf(readFileSync(join(root, file), 'utf8'))
    if (blocks === '') continue
    const script = withGiven(name, blocks)
    test(`${name}: its commands work one after another`, async () => {
      await using product = await productForTests()
      const receiver = await portForTests()
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

function withGiven(name: string, blocks: string): string {
  const { before = '', words = [] } = given[name] ?? {}
  for (const [word] of words) assert.ok(blocks.includes(word), `${name} says ${word} no more`)
  return `${before}\n${words.reduce((text, [word, mine]) => text.replaceAll(word, mine), blocks)}`
}

function blocksOf(markdown: string): string {
  return [...markdown.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)]
    .map(([, lines = '']) => lines)
    .join('\n')
}
