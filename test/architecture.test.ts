// Tests who may import what (ARCHITECTURE.md), how large files and folders may be, and what must be documented.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { describe, test } from 'node:test'
import { problems } from '../src/errors.ts'
import { readSources, type Import, type SourceFile } from './harness/sources.ts'

const root = join(import.meta.dirname, '..')

/** What every folder may import: files at the root of src, and the folder telemetry. */
const common = [
  'clock',
  'credential-formats',
  'errors',
  'files',
  'html',
  'ids',
  'methods',
  'nearest',
  'rate',
  'record-choice',
  'storable',
  'strict-json',
  'thread-priority',
  'timers',
  'units',
  'telemetry',
]
const infrastructure = ['store', 'secrets', 'http', 'oidc']
const entryPoints = ['gateway', 'api', 'signin', 'scim', 'pages', 'operations']

/** The folders that each folder may import besides `common`; `compose` may also import `config`, the settings. */
const mayImport: Record<string, readonly string[]> = {
  telemetry: [],
  secrets: [],
  http: [],
  store: ['secrets'],
  oidc: ['secrets'],
  webhooks: infrastructure,
  audit: [...infrastructure, 'webhooks'],
  access: [...infrastructure, 'webhooks', 'audit'],
  organizations: [...infrastructure, 'access', 'webhooks', 'audit'],
  sso: [...infrastructure, 'access', 'organizations', 'webhooks', 'audit'],
  directory: [...infrastructure, 'access', 'organizations', 'sso', 'webhooks', 'audit'],
  targets: [...infrastructure, 'access', 'webhooks', 'audit'],
  calls: [...infrastructure, 'access', 'targets', 'webhooks', 'audit'],
  configuration: [
    ...infrastructure,
    'access',
    'organizations',
    'sso',
    'directory',
    'targets',
    'webhooks',
    'audit',
  ],
}
const domain = [
  'access',
  'organizations',
  'sso',
  'directory',
  'targets',
  'calls',
  'webhooks',
  'audit',
  'configuration',
]
for (const entry of entryPoints) mayImport[entry] = [...infrastructure, ...domain]
mayImport['compose'] = [...infrastructure, ...domain, ...entryPoints, 'config']
const everyFolder = [...Object.keys(mayImport), 'cli']
/** `main`, `embed` and the command line may import every folder. Besides them, only `compose` reads the settings. */
const starters = ['main', 'embed', 'cli']
/** Files at the root of src that parse the settings. */
const settings = ['config', 'setting', 'setting-files', 'setting-names', 'setting-telemetry']

/**
 * Which folders may import each outside library and risky Node module; a file at the root of src is listed by its own
 * name.
 */
const keepers: Record<string, readonly string[]> = {
  kysely: ['store'],
  'better-sqlite3': ['store'],
  pg: ['store'],
  jose: ['secrets'],
  // http and cli need node:crypto for the WebSocket handshake (SHA-1, RFC 6455): http verifies the upstream's response,
  // and the demo's upstream computes its own.
  'node:crypto': ['secrets', 'ids', 'cli', 'http'],
  fastify: ['http'],
  '@fastify/ajv-compiler': ['http'],
  '@fastify/fast-json-stringify-compiler': ['http'],
  undici: ['http'],
  typebox: ['http'],
  yaml: ['configuration'],
  // The parser of settings uses only `isIP`.
  'node:net': ['http', 'setting'],
  // The demo, `receive` and the supervisor of the workers run small servers of their own.
  'node:http': ['http', 'cli'],
  'node:https': ['http'],
  'node:http2': [],
  'node:tls': ['http'],
  'node:dns': ['http'],
  'node:dns/promises': ['http'],
  'node:dgram': [],
  nodemailer: ['organizations'],
  marked: ['pages'],
  pino: ['telemetry'],
  'node:cluster': ['main', 'cli'],
  // The command line runs git, and a checkout builds its dashboard in a separate process.
  'node:child_process': ['cli', 'pages'],
  // The only use is to reach V8's garbage collector, for which Node has no other API (idle-memory.ts).
  'node:vm': ['cli'],
}
/** Entry files of parts of a folder. Importing one does not load the rest, so that the command line starts fast. */
const lightEntries = [
  'src/http/message/index.ts',
  'src/http/outbound/index.ts',
  'src/webhooks/events/index.ts',
]
const maxLines = 400
const maxFilesInFolder = 22

const sources = readSources(['src/**/*.ts'])
const product = sources.filter((file) => !file.path.endsWith('.test.ts'))
const web = readSources(['web/src/**/*.{ts,tsx}'])

describe('architecture', () => {
  test('every folder is on the plan', () => {
    const unknown = product.map((file) => folderOf(file.path)).filter((name) => !isKnown(name))
    assert.deepEqual([...new Set(unknown)], [])
  })

  test('imports go down only, and entry points never see each other', () => {
    const wrong = eachImport(product, (file, target) => {
      const from = folderOf(file.path)
      const to = folderOf(target)
      if (from === to || [...starters, ...settings].includes(from)) return undefined
      const allowed = [...common, ...(mayImport[from] ?? [])].includes(to)
      return allowed ? undefined : `${file.path} → ${target}`
    })
    assert.deepEqual(wrong, [])
  })

  test('a folder is entered by its index.ts', () => {
    const wrong = eachImport(product, (file, target) => {
      const to = folderOf(target)
      if (folderOf(file.path) === to || to === 'compose' || !everyFolder.includes(to)) {
        return undefined
      }
      const isEntry = target === `src/${to}/index.ts` || lightEntries.includes(target)
      return isEntry ? undefined : `${file.path} → ${target}`
    })
    assert.deepEqual(wrong, [])
  })

  test('no two folders import each other, at any depth', () => {
    const arrows = new Set<string>()
    eachImport(product, (file, target) => {
      const [from, to] = [dirname(file.path), dirname(target)]
      // Files at the root of src don't form a folder.
      if (from !== to && from !== 'src' && to !== 'src') arrows.add(`${from} ${to}`)
      return undefined
    })
    const both = [...arrows].filter((arrow) => {
      const [from = '', to = ''] = arrow.split(' ')
      return from < to && arrows.has(`${to} ${from}`)
    })
    assert.deepEqual(both, [])
  })

  test(`no folder holds more than ${maxFilesInFolder} files of one level`, () => {
    const counts = new Map<string, number>()
    for (const { path } of product) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
    const crowded = [...counts].filter(([, files]) => files > maxFilesInFolder)
    assert.deepEqual(crowded, [])
  })

  test('only main, compose and the command line read the settings', () => {
    const readers = product
      .filter((file) => !starters.includes(folderOf(file.path)) && file.path !== 'src/config.ts')
      .filter((file) => /\bprocess\.env\b/.test(file.text))
    assert.deepEqual(
      readers.map((file) => file.path),
      [],
    )
  })

  test('each outside library has one keeper', () => {
    const wrong: string[] = []
    for (const file of product) {
      for (const { specifier } of file.imports.filter((one) => !isLocal(one))) {
        const library = libraryOf(specifier)
        const allowed = keepers[library]
        if (allowed === undefined && builtinModules.includes(library.replace('node:', ''))) continue
        if (!allowed?.includes(folderOf(file.path))) wrong.push(`${file.path} → ${specifier}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  test('nobody imports node:http, which would load fetch; nodeHttp is the same without it (docs/decisions/015)', () => {
    // An import of node:process is costly too: it opens the standard streams.
    const dear = ['node:http', 'node:process']
    const wrong = product.filter(({ imports }) =>
      imports.some((one) => dear.includes(one.specifier) && !one.typeOnly),
    )
    assert.deepEqual(
      wrong.map((file) => file.path),
      [],
    )
  })

  test('only the store speaks SQL', () => {
    const sql = /\b(select\s+[\w*,. ]+\s+from|insert\s+into|delete\s+from|create\s+table)\s+\w/i
    const wrong = product.filter((file) => folderOf(file.path) !== 'store' && sql.test(code(file)))
    assert.deepEqual(
      wrong.map((file) => file.path),
      [],
    )
  })

  test('there is no circle of imports, types included', () => {
    assert.deepEqual(circles(product), [])
    assert.deepEqual(circles(web), [])
  })

  test('in the dashboard imports go down only: pages, then the frame, then parts and the API', () => {
    const mayUse: Record<string, readonly string[]> = {
      api: ['parts'],
      parts: ['api'],
      frame: ['api', 'parts'],
      pages: ['api', 'parts', 'frame'],
    }
    const wrong = eachImport(web, (file, target) => {
      const [from = '', to = ''] = [file.path, target].map((path) => path.split('/')[2] ?? '')
      const allowed = mayUse[from]
      if (!target.startsWith('web/src/') || allowed === undefined || from === to) return undefined
      return allowed.includes(to) ? undefined : `${file.path} → ${target}`
    })
    assert.deepEqual(wrong, [])
  })

  test('the dashboard in the browser takes nothing but types from the server', () => {
    const wrong: string[] = []
    for (const file of web) {
      for (const one of file.imports.filter(isLocal)) {
        const target = resolve(file.path, one.specifier)
        if (target.startsWith('src/') && !one.typeOnly) wrong.push(`${file.path} → ${target}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  test(`no file is longer than ${maxLines} lines`, () => {
    const long = [...sources, ...web, ...readSources(['test/**/*.ts', 'bench/**/*.ts'])]
      .map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }))
      .filter((file) => file.lines > maxLines)
    assert.deepEqual(long, [])
  })

  test('no file holds the markers of a merge conflict', () => {
    const kept = globSync('{src,web,test,bench,bin,docs,deploy,examples,packages}/**/*.*', {
      cwd: root,
      exclude: (path) => /node_modules|dist|pictures/.test(path),
    })
    const isText = (path: string): boolean => /\.(?:ts|tsx|js|css|sql|md|ya?ml|json|sh)$/.test(path)
    const marked = kept.filter(
      (path) => isText(path) && /^(?:<{7}|>{7}) /m.test(readFileSync(join(root, path), 'utf8')),
    )
    assert.deepEqual(marked, [])
  })

  test('every refusal has a page that says what happened, why, and what to do', () => {
    for (const problem of Object.keys(problems)) {
      const page = join(root, 'docs', 'problems', `${problem}.md`)
      assert.ok(existsSync(page), `docs/problems/${problem}.md is missing`)
      const headings = readFileSync(page, 'utf8').match(/^## .*$/gm)
      assert.deepEqual(headings, ['## What happened', '## Why', '## What to do'], problem)
    }
    const pages = globSync('docs/problems/*.md', { cwd: root })
    const known = Object.keys(problems).map((problem) => join('docs', 'problems', `${problem}.md`))
    assert.deepEqual(pages.toSorted(), known.toSorted())
  })

  test('every table of the migrations is described in schema.md', () => {
    const described = readFileSync(join(root, 'src/store/schema.md'), 'utf8')
    const missing = new Set<string>()
    for (const path of globSync('src/store/migrations/*/*.sql', { cwd: root })) {
      const text = readFileSync(join(root, path), 'utf8')
      for (const [, name = ''] of text.matchAll(/^create table (?:if not exists )?"?(\w+)"?/gim)) {
        if (!described.includes(`\`${name}\``)) missing.add(name)
      }
    }
    assert.deepEqual([...missing], [])
  })

  test('importing every module does nothing: no output, no open handle, an end by itself', () => {
    const script = `
      const files = ${JSON.stringify(product.map((file) => join(root, file.path)))}
      for (const file of files) await import(file)
      const open = process.getActiveResourcesInfo().filter((kind) => !/TTY|Pipe|FSReq/.test(kind))
      if (open.length > 0) console.log('open:', open.join(' '))
    `
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'] },
    })
    assert.deepEqual(
      { out: done.stdout, err: done.stderr, status: done.status },
      { out: '', err: '', status: 0 },
    )
  })
})

function eachImport(
  files: readonly SourceFile[],
  judge: (file: SourceFile, target: string) => string | undefined,
): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter(isLocal)
      .map((one) => judge(file, resolve(file.path, one.specifier)))
      .filter((complaint) => complaint !== undefined),
  )
}

function isLocal(one: Import): boolean {
  return one.specifier.startsWith('.')
}

function resolve(from: string, specifier: string): string {
  return normalize(join(dirname(from), specifier))
}

/**
 * Returns the folder below src, or the name of a file at the root of src: `src/access/keys.ts` → `access`;
 * `src/main.ts` → `main`.
 */
function folderOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '')
}

function isKnown(name: string): boolean {
  return [...everyFolder, ...common, 'main', 'embed', ...settings].includes(name)
}

function libraryOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
}

function code(file: SourceFile): string {
  return file.text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '')
}

/** Finds groups of files that import each other in a circle (Tarjan's strongly connected components). */
function circles(files: readonly SourceFile[]): string[][] {
  const edges = new Map(
    files.map((file) => [
      file.path,
      file.imports.filter(isLocal).map((one) => resolve(file.path, one.specifier)),
    ]),
  )
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []

  const visit = (path: string): number => {
    const index = order.size
    order.set(path, index)
    low.set(path, index)
    stack.push(path)
    for (const next of edges.get(path) ?? []) {
      if (!edges.has(next)) continue
      if (next === path) found.push([path])
      const reach = order.has(next) ? (stack.includes(next) ? order.get(next) : index) : visit(next)
      low.set(path, Math.min(low.get(path) ?? index, reach ?? index))
    }
    if (low.get(path) === index) {
      const group = stack.splice(stack.indexOf(path))
      if (group.length > 1) found.push(group)
    }
    return low.get(path) ?? index
  }
  for (const path of edges.keys()) if (!order.has(path)) visit(path)
  return found
}
