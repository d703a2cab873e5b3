import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { mintWebhookSecret } from '../../src/secrets/index.ts'
import { createDeliverySigner } from '../../src/webhooks/signing/signatures.ts'

const root = join(import.meta.dirname, '..', '..')
const guide = readFileSync(join(root, 'docs', 'guides', 'receive-webhooks.md'), 'utf8')

/**
 * How to turn a snippet into a program. The program takes its settings from the environment and the body from a file,
 * and exits with 0 if the delivery is genuine.
 */
interface Language {
  readonly name: string
  readonly fence: string
  readonly runtime: string
  readonly file: string
  readonly main: string
  readonly command: readonly string[]
}

const node = `
import { readFileSync } from 'node:fs'
const e = process.env
verify(e.SECRET, { 'webhook-id': e.WEBHOOK_ID, 'webhook-timestamp': e.WEBHOOK_TIMESTAMP, 'webhook-signature': e.WEBHOOK_SIGNATURE }, readFileSync('body'))
`
const languages: readonly Language[] = [
  {
    name: 'JavaScript',
    fence: 'js',
    runtime: 'node',
    file: 'verify.mjs',
    main: node,
    command: [process.execPath, 'verify.mjs'],
  },
  {
    name: 'Python',
    fence: 'python',
    runtime: 'python3',
    file: 'verify.py',
    main: `
import os
h = {"webhook-id": os.environ["WEBHOOK_ID"], "webhook-timestamp": os.environ["WEBHOOK_TIMESTAMP"], "webhook-signature": os.environ["WEBHOOK_SIGNATURE"]}
verify(os.environ["SECRET"], h, open("body", "rb").read())
`,
    command: ['python3', 'verify.py'],
  },
  {
    name: 'Go',
    fence: 'go',
    runtime: 'go',
    file: 'verify.go',
    main: `
func main() {
	body, _ := os.ReadFile("body")
	h := map[string]string{"webhook-id": os.Getenv("WEBHOOK_ID"), "webhook-timestamp": os.Getenv("WEBHOOK_TIMESTAMP"), "webhook-signature": os.Getenv("WEBHOOK_SIGNATURE")}
	if verify(os.Getenv("SECRET"), h, body) != nil { os.Exit(1) }
}
`,
    command: ['go', 'run', 'verify.go'],
  },
  {
    name: 'PHP',
    fence: 'php',
    runtime: 'php',
    file: 'verify.php',
    main: `
verify(getenv('SECRET'), ['webhook-id' => getenv('WEBHOOK_ID'), 'webhook-timestamp' => getenv('WEBHOOK_TIMESTAMP'), 'webhook-signature' => getenv('WEBHOOK_SIGNATURE')], file_get_contents('body'));
`,
    command: ['php', 'verify.php'],
  },
  {
    name: 'Ruby',
    fence: 'ruby',
    runtime: 'ruby',
    file: 'verify.rb',
    main: `
verify(ENV['SECRET'], { 'webhook-id' => ENV['WEBHOOK_ID'], 'webhook-timestamp' => ENV['WEBHOOK_TIMESTAMP'], 'webhook-signature' => ENV['WEBHOOK_SIGNATURE'] }, File.binread('body'))
`,
    command: ['ruby', 'verify.rb'],
  },
  {
    name: 'Java',
    fence: 'java',
    runtime: 'java',
    file: 'Main.java',
    main: `
class Main {
  public static void main(String[] a) throws Exception {
    var e = System.getenv();
    Webhook.verify(e.get("SECRET"), Map.of("webhook-id", e.get("WEBHOOK_ID"), "webhook-timestamp", e.get("WEBHOOK_TIMESTAMP"), "webhook-signature", e.get("WEBHOOK_SIGNATURE")), java.nio.file.Files.readAllBytes(java.nio.file.Path.of("body")));
  }
}
`,
    command: ['java', 'Main.java'],
  },
]

const body = Buffer.from('{"id":"evt_1","type":"webhook.ping","data":{"text":"grüße 🌱"}}')
const expiring = mintWebhookSecret()
const current = mintWebhookSecret()

function deliveryAt(ms: number): Record<string, string> {
  const headers = createDeliverySigner(
    [
      { secret: current, validUntil: undefined },
      { secret: expiring, validUntil: ms + 3_600_000 },
    ],
    undefined,
  ).sign('evt_1', body, ms)
  return {
    SECRET: expiring.reveal(),
    WEBHOOK_ID: headers['webhook-id']!,
    WEBHOOK_TIMESTAMP: headers['webhook-timestamp']!,
    WEBHOOK_SIGNATURE: headers['webhook-signature']!,
    PLAIN: headers['intercept-signature-256']!,
  }
}

describe('the snippets of docs/guides/receive-webhooks.md', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-snippets-'))
  after(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  function exitOf(command: readonly string[], env: Record<string, string>, bytes: Buffer) {
    writeFileSync(join(folder, 'body'), bytes)
    const [program = '', ...words] = command
    const done = spawnSync(program, words, {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', ...env },
      encoding: 'utf8',
      timeout: 60_000,
    })
    return { code: done.status, out: done.stdout, err: done.stderr }
  }

  for (const language of languages) {
    const snippets = blocks(language.fence)
    const installed = isInstalled(language)
    for (const [at, snippet] of snippets.entries()) {
      const name = `${language.name} snippet ${at + 1} accepts what is genuine and nothing else`
      const why = installed ? '' : ` (skipped: ${language.runtime} is not installed here)`
      test(name + why, { skip: !installed }, () => {
        writeFileSync(join(folder, language.file), programOf(language, snippet))
        const now = Date.now()
        const genuine = deliveryAt(now)
        const fine = exitOf(language.command, genuine, body)
        assert.equal(fine.code, 0, fine.err)
        const altered = Buffer.from(body)
        altered[20]! ^= 1
        const wrong: [string, Record<string, string>, Buffer][] = [
          ['altered body', genuine, altered],
          ['other id', { ...genuine, WEBHOOK_ID: 'evt_2' }, body],
          ['old', deliveryAt(now - 400_000), body],
          ['other secret', { ...genuine, SECRET: mintWebhookSecret().reveal() }, body],
        ]
        for (const [what, env, bytes] of wrong) {
          assert.notEqual(exitOf(language.command, env, bytes).code, 0, what)
        }
      })
    }
    test(`${language.name} has a snippet`, () => assert.ok(snippets.length > 0))
  }

  const hasOpenssl = spawnSync('openssl', ['version'], { timeout: 30_000 }).status === 0
  const whyNot = hasOpenssl ? '' : ' (skipped: openssl is not installed here)'
  test(`the OpenSSL lines print what the headers hold${whyNot}`, { skip: !hasOpenssl }, () => {
    const lines = blocks('sh').filter((block) => block.includes('openssl'))
    assert.equal(lines.length, 2)
    const env = deliveryAt(Date.now())
    const [signature, plain] = lines.map((block) => {
      // `intercept-signature-256` is made only with the newest secret, which is the first one in the signer's list.
      const own = block.includes('-hmac') ? { ...env, SECRET: current.reveal() } : env
      return exitOf(['sh', '-c', block], own, body).out.trim()
    })
    assert.ok(env['WEBHOOK_SIGNATURE']!.split(' ').includes(signature!), signature)
    assert.equal(plain, env['PLAIN'])
  })
})

function blocks(fence: string): string[] {
  const found = guide.matchAll(
    new RegExp(`^\`\`\`${fence}(?: checked)?\\n([\\s\\S]*?)^\`\`\`$`, 'gm'),
  )
  return [...found].map(([, code = '']) => code)
}

function programOf({ fence, main }: Language, snippet: string): string {
  // Java runs the first class of a file; Go needs all imports at the top.
  if (fence === 'java') return snippet.replace('class Webhook', `${main}\nclass Webhook`)
  if (fence === 'go') return snippet.replace('"math"', '"math"\n\t"os"') + main
  return snippet + main
}

function isInstalled({ command, runtime }: Language): boolean {
  const flag = runtime === 'go' ? 'version' : '--version'
  return spawnSync(command[0] ?? '', [flag], { timeout: 30_000 }).status === 0
}
