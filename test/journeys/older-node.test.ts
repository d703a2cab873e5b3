// Intercept started under an older Node finds another one that is new enough.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'

const bin = join(import.meta.dirname, '../../bin')

interface Runtime {
  findRuntime(from: string): string
  isNewEnough(version: string): boolean
}

describe('an older Node', () => {
  const earlier = process.env['XDG_CACHE_HOME']
  const { version } = JSON.parse(readFileSync(join(bin, 'node-runtime.json'), 'utf8')) as {
    version: string
  }
  let runtime: Runtime
  let folder: string
  let launcher: string
  before(async () => {
    const file: string = join(bin, 'node-runtime.js')
    runtime = (await import(file)) as Runtime
  })
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'older-node-'))
    process.env['XDG_CACHE_HOME'] = join(folder, 'cache')
    launcher = join(folder, 'project', 'node_modules', 'interceptd', 'bin', 'intercept.js')
  })
  after(() => {
    if (earlier === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = earlier
  })

  /** Installs a program named `node` in the `node_modules` of a folder; it only prints. */
  function installed(place: string, prints: string): string {
    const file = join(folder, place, 'node_modules', '.bin', 'node')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!/bin/sh\necho '${prints}'\n`, { mode: 0o755 })
    return file
  }

  test('is replaced by the nearest one that npm installed, unless that is too old as well', () => {
    try {
      installed(`cache/interceptd/node-${version}`, `v${version}`)
      installed('project/node_modules/interceptd', 'v24.20.9')
      installed('project', 'v22.30.0')
      const found = installed('.', `v${version}`)
      assert.equal(runtime.findRuntime(launcher), found)
      const nearer = installed('project', 'v25.0.0')
      assert.equal(runtime.findRuntime(launcher), nearer)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('is replaced by the downloaded one if all that npm installed are too old or broken', () => {
    try {
      const fetched = installed(`cache/interceptd/node-${version}`, `v${version}`)
      assert.equal(runtime.findRuntime(launcher), fetched)
      installed('project', 'v24.1.0')
      installed('.', 'not Node at all')
      assert.equal(runtime.findRuntime(launcher), fetched)
    } finally {
      rmSync(folder, { recursive: true })
    }
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
