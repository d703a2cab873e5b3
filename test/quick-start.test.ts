// A command starts quickly because it loads little: what takes long to load must not creep in.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const heavy = new Set(['fastify', 'typebox', 'jose', 'src/http/index.ts'])
// Imports of values; those of types alone load nothing.
const values = /^(?:import|export) (?!type )(?!\{(?:\s*type [^,}]+,?)+\s*\})[^'"]*?'([^']+)'/gm

test('a command about keys loads neither the server nor its libraries', () => {
  assert.deepEqual(loadedWith('src/cli/commands/key.ts').intersection(heavy), new Set())
})

function loadedWith(start: string): Set<string> {
  const loaded = new Set([start])
  for (const path of loaded) {
    if (!path.endsWith('.ts')) continue
    for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(values)) {
      loaded.add(specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier)
    }
  }
  assert.ok(loaded.size > 100, `${loaded.size} modules`)
  return loaded
}
