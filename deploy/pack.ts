// npm run pack [-- --to folder]: builds the package that is published: JavaScript and a declaration file, because
// Node refuses to strip types below node_modules (ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING). Line numbers stay those of
// the sources. The package leaves out the Node that a checkout installs.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { bundledComponents, renderNotices } from './third-party.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { to: { type: 'string', default: root } } })
const stage = mkdtempSync(join(tmpdir(), 'intercept-pack-'))
const documents = ['README.md', 'LICENSE', 'NOTICE', 'CHANGELOG.md', 'GLOSSARY.md']
const folders = ['bin', 'docs', 'web/dist']

try {
  execFileSync(process.execPath, [join(root, 'web', 'build.ts')], { stdio: 'inherit' })
  for (const name of [...folders, ...documents]) {
    if (existsSync(join(root, name)))
      cpSync(join(root, name), join(stage, name), { recursive: true })
  }
  // These are for people who develop Intercept, not for people who run it.
  for (const name of ['docs/decisions', 'docs/requirements.md']) {
    rmSync(join(stage, name), { recursive: true })
  }
  const notices = renderNotices(bundledComponents(root))
  writeFileSync(join(stage, 'THIRD-PARTY-NOTICES.txt'), notices)
  packSources()
  packTypes('src/embed.d.ts')
  packManifest()
  const launcher = join(stage, 'bin', 'intercept.js')
  writeFileSync(launcher, asJavaScript(readFileSync(launcher, 'utf8')), { mode: 0o755 })
  execFileSync('npm', ['pack', '--pack-destination', resolve(values.to)], {
    cwd: stage,
    stdio: 'inherit',
  })
} finally {
  rmSync(stage, { recursive: true })
}

function packSources(): void {
  for (const name of globSync('src/**/*.{ts,sql}', { cwd: root })) {
    if (name.endsWith('.test.ts')) continue
    const place = join(stage, name)
    mkdirSync(dirname(place), { recursive: true })
    if (name.endsWith('.sql')) cpSync(join(root, name), place)
    else {
      const text = stripTypeScriptTypes(readFileSync(join(root, name), 'utf8'))
      writeFileSync(place.replace(/\.ts$/, '.js'), asJavaScript(text))
    }
  }
}

/** Emits the types that programs may import, and every type to which those refer. */
function packTypes(entry: string): void {
  const made = mkdtempSync(join(tmpdir(), 'intercept-types-'))
  try {
    const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly']
    execFileSync(
      join(root, 'node_modules', '.bin', 'tsc'),
      ['-p', root, ...options, '--rootDir', root, '--outDir', made],
      { stdio: 'inherit' },
    )
    const waiting = [join(made, entry)]
    const done = new Set<string>()
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (done.has(file)) continue
      done.add(file)
      const text = readFileSync(file, 'utf8')
      const place = join(stage, relative(made, file))
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, asJavaScript(text))
      for (const [, path = ''] of text.matchAll(/['"](\.{1,2}\/[^'"\n]*)\.ts['"]/g)) {
        waiting.push(join(dirname(file), `${path}.d.ts`))
      }
    }
  } finally {
    rmSync(made, { recursive: true })
  }
}

/**
 * Writes the manifest without what only a checkout needs. Node is not a dependency either, because the launcher
 * downloads it if the system's is too old.
 */
function packManifest(): void {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >
  for (const name of ['devDependencies', 'optionalDependencies', 'scripts', 'files']) {
    delete manifest[name]
  }
  const entry = { types: './src/embed.d.ts', default: './src/embed.js' }
  manifest['exports'] = { '.': entry, './package.json': './package.json' }
  manifest['files'] = ['src', ...folders, ...documents, 'THIRD-PARTY-NOTICES.txt']
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Makes imports of our own files end in `.js`, because the package contains JavaScript. */
function asJavaScript(text: string): string {
  return text.replace(/(['"]\.{1,2}\/[^'"\n]*)\.ts(['"])/g, '$1.js$2')
}
