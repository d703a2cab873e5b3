import assert from 'node:assert/strict'
import { test } from 'node:test'
import { named } from './state.ts'

const count = 2000

test('thousands of keys with one name get names of their own, without trying every number for each', () => {
  let reads = 0
  const found = Array.from({ length: count }, (_, at) => ({
    id: `key_${at}`,
    get name() {
      reads += 1
      return 'deploy'
    },
    entry: {},
    secrets: new Map<string, string>(),
  }))
  const names = [...named(found, [], false).keys()]
  assert.equal(new Set(names).size, count)
  assert.deepEqual(names.slice(0, 3), ['deploy', 'deploy-2', 'deploy-3'])
  assert.equal(names.at(-1), `deploy-${count}`)
  assert.ok(reads <= 2 * count, `${reads} looks at ${count} names`)
})

test('a number that a file has taken already is left out', () => {
  const thing = (id: string) => ({ id, name: 'a', entry: {}, secrets: new Map<string, string>() })
  const row = { section: 'keys', name: 'a-2', subjectId: 'key_9', label: 'f', entry: {} }
  const owned = [{ ...row, secretsSealed: undefined, driftedAt: undefined }]
  const names = named(
    [thing('key_1'), thing('key_2'), thing('key_3'), thing('key_9')],
    owned,
    false,
  )
  const ids = [...names].map(([name, { id }]) => `${name} ${id}`)
  assert.deepEqual(ids.toSorted(), ['a key_1', 'a-2 key_9', 'a-3 key_2', 'a-4 key_3'])
})

test('a thing made anew has the name of the one that is gone, if its kind has unique names', () => {
  const thing = { id: 'new', name: 'a', entry: {}, secrets: new Map<string, string>() }
  const row = { section: 'targets', name: 'a', subjectId: 'old', label: 'f', entry: {} }
  const owned = [{ ...row, secretsSealed: undefined, driftedAt: undefined }]
  assert.deepEqual([...named([thing], owned, true).keys()], ['a'])
  assert.deepEqual([...named([thing], owned, false).keys()], ['a-2'])
})
