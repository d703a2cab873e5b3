import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { nouns } from '../../src/cli/index.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'

const root = join(import.meta.dirname, '..', '..')
const shown =
  '{index,troubleshooting,start/*,concepts/*,how-to/*,guides/*,operate/*,reference/*}.md'
const files = globSync(shown, { cwd: join(root, 'docs') }).toSorted()
const names = files.map((file) => file.replace(/\.md$/, ''))

describe('documentation', () => {
  let product: TestProduct

  before(async () => {
    product = await productForTests()
  })
  after(async () => await product[Symbol.asyncDispose]())

  const get = async (path: string) => await fetch(product.baseUrl + path)

  test('every page is in the navigation, is shown, and is there as Markdown', async () => {
    const home = await (await get('/docs')).text()
    const start = readFileSync(join(root, 'docs', 'index.md'), 'utf8')
    for (const name of names) {
      const address = addressOf(name)
      assert.ok(home.includes(`href="${address}"`), `${name} is not in the navigation`)
      assert.ok(
        name === 'index' || start.includes(`](${name}.md)`),
        `${name} is not on the first page`,
      )
      const page = await get(address)
      assert.equal(page.status, 200, name)
      assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      const html = await page.text()
      assert.doesNotMatch(html, /<script| style=| on[a-z]+=/, name)
      const markdown = await get(`${address === '/docs' ? '/docs/index' : address}.md`)
      assert.equal(markdown.headers.get('content-type'), 'text/markdown; charset=utf-8')
      assert.equal(await markdown.text(), readFileSync(join(root, 'docs', `${name}.md`), 'utf8'))
    }
  })

  test('every link leads to a page, and to a place on it', async () => {
    const pages = new Map<string, { status: number; html: string }>()
    const load = async (address: string) => {
      const known = pages.get(address)
      if (known !== undefined) return known
      const response = await get(address)
      const page = { status: response.status, html: await response.text() }
      pages.set(address, page)
      return page
    }
    for (const name of names) {
      const { html } = await load(addressOf(name))
      const [, content = ''] = /<main id="content">([\s\S]*)<\/main>/.exec(html) ?? []
      for (const [, to = ''] of content.matchAll(/(?:href|src)="([/#][^"]*)"/g)) {
        const [path = '', fragment] = to.split('#')
        const target = await load(path === '' ? addressOf(name) : path)
        assert.equal(target.status, 200, `${name}: ${to}`)
        if (fragment) assert.ok(target.html.includes(`id="${fragment}"`), `${name}: ${to}`)
      }
    }
    const index = await (await get('/llms.txt')).text()
    for (const [, to = ''] of index.matchAll(/\]\(([^)]+)\)/g)) {
      assert.equal((await get(to)).status, 200, to)
    }
  })

  test('in the repository every link leads to a file', () => {
    const own = globSync('{*.md,docs/**/*.md,examples/**/*.md}', { cwd: root })
    for (const file of own) {
      const text = readFileSync(join(root, file), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')
      for (const [, to = ''] of text.matchAll(/\]\((?!https?:|\/|#|mailto:)([^)#\s]+)[^)]*\)/g)) {
        assert.ok(existsSync(join(root, dirname(file), to)), `${file}: ${to}`)
      }
    }
  })

  test('every block of commands says whether a test runs it; each command in it exists with its flags', async () => {
    for (const name of names) {
      for (const { mark, text } of shellBlocks(name)) {
        assert.ok(['run', 'serve', 'checked'].includes(mark), `${name}: \`\`\`sh ${mark}`)
        for (const line of commandsIn(text)) await checkCommand(line, name)
        if (mark === 'checked') assert.ok(name in ranElsewhere, `${name}: no test runs ${text}`)
      }
    }
  })

  test('the reference is made from the product as it is now (npm run reference)', () => {
    const words = [join(root, 'deploy', 'reference.ts'), '--check']
    const done = spawnSync(process.execPath, words, { encoding: 'utf8' })
    assert.equal(done.status, 0, done.stderr)
  })

  test('the search finds pages by all of their words, and shows what was asked as text', async () => {
    const found = await (await get('/docs/search?q=rotate+overlap')).text()
    assert.ok(found.includes('href="/docs/how-to/rotate-a-key"'))
    const hostile = await (await get('/docs/search?q=%3Cscript%3E')).text()
    assert.ok(hostile.includes('value="&lt;script&gt;"') && !hostile.includes('<script>'))
    assert.equal((await get('/docs/..%2f..%2fREADME')).status, 404)
    assert.equal((await get('/docs/pictures/..%2f..%2fx.svg')).status, 404)
  })
})

/** Pages with blocks marked `checked`, and the test that runs them. */
const ranElsewhere: Readonly<Record<string, string>> = {
  'guides/receive-webhooks': 'test/conformance/receiver-snippets.test.ts runs them',
  'operate/backup': 'test/journeys/documentation-operate.test.ts runs them',
  'operate/deploy': 'test/journeys/documentation-operate.test.ts starts a node with them',
  'guides/export-logs': 'test/journeys/documentation-operate.test.ts starts a node with it',
}
/** Flags that every command accepts, or at least every command that calls the API. */
const everywhere = ['json', 'help', 'server', 'org', 'profile', 'token-stdin']

function addressOf(name: string): string {
  if (name === 'index') return '/docs'
  return name.startsWith('guides/') ? `/${name}` : `/docs/${name}`
}

function shellBlocks(name: string): { mark: string; text: string }[] {
  const markdown = readFileSync(join(root, 'docs', `${name}.md`), 'utf8')
  return [...markdown.matchAll(/^```(?:sh|bash|shell)(?: (.*))?\n([\s\S]*?)^```$/gm)].map(
    ([, mark = '', text = '']) => ({ mark, text }),
  )
}

function commandsIn(text: string): string[] {
  const joined = text.replaceAll(/\\\n/g, ' ')
  return [...joined.matchAll(/npx interceptd ([^|)<;&\n]*)/g)].map(([, words = '']) => words.trim())
}

async function checkCommand(line: string, page: string): Promise<void> {
  const [noun = '', ...rest] = line.split(/\s+/)
  const known = nouns[noun]
  assert.ok(known, `${page}: ${line}`)
  const { commands } = await known.load()
  // Try longer verbs first, because some have two words: `token issue` in `scim token issue`.
  const verb = Object.keys(commands)
    .toSorted((one, other) => other.length - one.length)
    .find((one) => `${rest.join(' ')} `.startsWith(one === '' ? '' : `${one} `))
  const command = verb === undefined ? undefined : commands[verb]
  assert.ok(command, `${page}: ${line}`)
  for (const [, flag = ''] of line.matchAll(/ --([a-z-]+)/g)) {
    const isKnown = flag in command.options || everywhere.includes(flag)
    assert.ok(isKnown, `${page}: --${flag} in ${line}`)
  }
}
