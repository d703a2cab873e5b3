import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'

const bin = join(import.meta.dirname, '../../bin')

interface Runtime {
  findRuntime(from: string): string
  isNewEnough(version: string): boolean
  flagsKnownTo(node: string, flags: readonly string[]): string[]
}

describe('an older Node', () => {
  const earlier = process.env['XDG_CACHE_HOME']
  const { version } = JSON.parse(readFileSync(join(bin, 'node-runtime.json'), 'utf8')) as {
    version: string
  }
  let runtime: Runtime
  let ours: readonly string[]
  let folder: string
  let launcher: string
  before(async () => {
    const file: string = join(bin, 'node-runtime.js')
    runtime = (await import(file)) as Runtime
    const flagsFile: string = join(bin, 'serve-flags.js')
    ours = ((await import(flagsFile)) as { serveFlags: readonly string[] }).serveFlags
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'older-node-'))
    process.env['XDG_CACHE_HOME'] = join(folder, 'cache')
    launcher = join(folder, 'project', 'node_modules', 'interceptd', 'bin', 'intercept.js')
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  after(() => {
    if (earlier === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = earlier
  })

  /** Puts a program named `node`, which only prints the given text, into a folder's `node_modules/.bin`. */
  function installed(place: string, prints: string): string {
    const file = join(folder, place, 'node_modules', '.bin', 'node')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!/bin/sh\necho '${prints}'\n`, { mode: 0o755 })
    return file
  }

  test('that is replaced by one of another major version passes on only the V8 flags that this one knows', () => {
    assert.equal(ours.length, 10)
    const unknown = '--no-such-flag-of-v8=1'
    const other = installed('.', '')
    // Answers like the Node that runs this test, but for its version.
    writeFileSync(
      other,
      `#!/bin/sh\nif [ "$1" = --version ]; then echo v99.0.0; else exec '${process.execPath}' "$@"; fi\n`,
    )
    assert.deepEqual(runtime.flagsKnownTo(other, [...ours, unknown]), ours)
    const tested = installed('project', `v${version}`)
    assert.deepEqual(runtime.flagsKnownTo(tested, [unknown]), [unknown])
  })

  test('is replaced by the nearest one that npm installed, unless that is too old as well', () => {
    installed(`cache/interceptd/node-${version}`, `v${version}`)
    installed('project/node_modules/interceptd', 'v24.20.9')
    installed('project', 'v22.30.0')
    const found = installed('.', `v${version}`)
    assert.equal(runtime.findRuntime(launcher), found)
    const nearer = installed('project', 'v25.0.0')
    assert.equal(runtime.findRuntime(launcher), nearer)
  })

  test('is replaced by the downloaded one if all that npm installed are too old or broken', () => {
    const fetched = installed(`cache/interceptd/node-${version}`, `v${version}`)
    assert.equal(runtime.findRuntime(launcher), fetched)
    installed('project', 'v24.1.0')
    installed('.', 'not Node at all')
    assert.equal(runtime.findRuntime(launcher), fetched)
  })

  test('is not started just to learn its version if it is in an npm package', () => {
    const fetched = installed(`cache/interceptd/node-${version}`, `v${version}`)
    const started = join(folder, 'started')
    const place = join(folder, 'project', 'node_modules')
    const program = join(place, 'node-some-system', 'bin', 'node')
    const packed = (packedVersion: string): void => {
      const text = JSON.stringify({ name: 'node-some-system', version: packedVersion })
      writeFileSync(join(dirname(program), '..', 'package.json'), text)
    }
    mkdirSync(dirname(program), { recursive: true })
    mkdirSync(join(place, '.bin'))
    writeFileSync(program, `#!/bin/sh\ntouch '${started}'\n`, { mode: 0o755 })
    symlinkSync(program, join(place, '.bin', 'node'))
    packed('22.1.0')
    assert.equal(runtime.findRuntime(launcher), fetched)
    packed(version)
    assert.equal(runtime.findRuntime(launcher), join(place, '.bin', 'node'))
    assert.equal(existsSync(started), false)
  })

  test('is one before the version that is downloaded', () => {
    const [major = 0, minor = 0] = version.split('.').map(Number)
    for (const enough of [version, `${major}.${minor + 1}.0`, `${major + 1}.0.0`]) {
      assert.equal(runtime.isNewEnough(enough), true, enough)
    }
    for (const old of ['18.20.0', `${major - 1}.99.0`, `${major}.${minor - 1}.9`, '', 'x.y.z']) {
      assert.equal(runtime.isNewEnough(old), false, old)
    }
  })
})
