// npm run pack [-- --to folder]: the package as it is published: plain JavaScript, types stripped, lines unmoved.
// Below node_modules Node refuses to strip types itself (ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING).
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
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { to: { type: 'string', default: root } } })
const stage = mkdtempSync(join(tmpdir(), 'intercept-pack-'))
try {
  execFileSync(process.execPath, [join(root, 'web', 'build.ts')], { stdio: 'inherit' })
  for (const name of [
    'bin',
    'docs/problems',
    'docs/guides',
    'web/dist',
    'package.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    'GLOSSARY.md',
  ]) {
    if (existsSync(join(root, name)))
      cpSync(join(root, name), join(stage, name), { recursive: true })
  }
  for (const name of globSync('src/**/*.{ts,sql}', { cwd: root })) {
    if (name.endsWith('.test.ts')) continue
    const place = join(stage, name)
    mkdirSync(dirname(place), { recursive: true })
    if (name.endsWith('.sql')) cpSync(join(root, name), place)
    else
      writeFileSync(
        place.replace(/\.ts$/, '.js'),
        plain(stripTypeScriptTypes(readFileSync(join(root, name), 'utf8'))),
      )
  }
  const launcher = join(stage, 'bin', 'intercept.js')
  writeFileSync(launcher, plain(readFileSync(launcher, 'utf8')), { mode: 0o755 })
  execFileSync('npm', ['pack', '--pack-destination', resolve(values.to)], {
    cwd: stage,
    stdio: 'inherit',
  })
} finally {
  rmSync(stage, { recursive: true })
}

/** Imports of our own files end in `.js` there. */
function plain(text: string): string {
  return text.replace(/(['"]\.{1,2}\/[^'"\n]*)\.ts(['"])/g, '$1.js$2')
}
