import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderNames } from './header-names.ts'

const [ordinary, special] = [0, 1]
const usual = ['Host', 'Content-Type']

function namesForTests(): HeaderNames<number> {
  return new HeaderNames(usual, (lower) => (lower === 'host' ? special : ordinary))
}

test('a name is found as it was written, with its meaning, whether or not the table remembers it', () => {
  const names = namesForTests()
  for (const name of ['Host', 'host', 'HOST', 'X-Other', 'X-'.padEnd(100, 'y'), ...colliding()]) {
    for (let time = 0; time < 2; time++) {
      const bytes = Buffer.from(`GET ${name}:`)
      assert.equal(names.find(bytes, 4, 4 + name.length), name)
      assert.equal(names.kind, name.toLowerCase() === 'host' ? special : ordinary)
    }
  }
})

test('names that a stranger chose to share one place in the table cost no more than a few comparisons each', () => {
  const names = namesForTests()
  const chosen = colliding()
  for (const name of chosen) names.find(Buffer.from(name), 0, name.length)
  for (const name of chosen) {
    const { bytes, reads } = counted(name)
    assert.equal(names.find(bytes, 0, name.length), name)
    // One pass computes the slot, and each comparison reads the name at most once.
    assert.ok(reads() <= 12 * name.length, `${reads()} bytes read for ${name.length}`)
  }
})

/** 2,048 names of one length with few different hashes, which depend on only three of their bytes. */
function colliding(): string[] {
  let names = ['']
  for (let pair = 0; pair < 11; pair++) names = names.flatMap((name) => [`${name}Aa`, `${name}BB`])
  return names
}

/** The bytes of a name, and a function that returns how many reads of single bytes there were. */
function counted(name: string): { bytes: Buffer; reads: () => number } {
  let reads = 0
  const bytes = new Proxy(Buffer.from(name), {
    get(target, property) {
      if (typeof property === 'string' && /^\d+$/.test(property)) reads++
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { bytes, reads: () => reads }
}
