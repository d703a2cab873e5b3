import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Keys, parseLabelFilter } from '../../src/access/index.ts'
import { Problem } from '../../src/errors.ts'
import { Organizations } from '../../src/organizations/index.ts'
import type { Actor, Labels, Store } from '../../src/store/index.ts'
import { configurationsFor } from '../harness/configuration-worlds.ts'
import { emptyPlace, engines } from './engines.ts'

const operator: Actor = { kind: 'operator' }

for (const engine of engines) {
  describe(`labels of keys on ${engine}`, () => {
    test('a list finds exactly the keys that have all labels, page by page', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, id, issue } = await open(store)
      const other = await new Organizations({ store }).create({ slug: 'other' }, operator)
      await keys.issue(other.id, { name: 'theirs', labels: { team: 'a' } }, operator)
      await issue('a1', { team: 'a', env: 'prod' })
      await issue('a2', { team: 'a', env: 'test' })
      await issue('b', { team: 'b', 'x.y-z_0': '' })
      await issue('number', { team: '1', constructor: 'c' })
      await issue('none')
      const found = async (...labels: string[]) => {
        const page = { limit: 10, labels: labels.map((text) => parseLabelFilter(text, ':')) }
        return (await keys.list(id, page)).map(({ name }) => name)
      }
      assert.deepEqual(await found('team'), ['number', 'b', 'a2', 'a1'])
      assert.deepEqual(await found('team:a'), ['a2', 'a1'])
      assert.deepEqual(await found('team:a', 'env:prod'), ['a1'])
      assert.deepEqual(await found('team:a', 'team:b'), [])
      assert.deepEqual(await found('team:1'), ['number'])
      assert.deepEqual(await found('team:'), [])
      assert.deepEqual(await found('x.y-z_0'), ['b'])
      assert.deepEqual(await found('x.y-z_0:'), ['b'])
      assert.deepEqual(await found('x'), [])
      assert.deepEqual(await found('constructor'), ['number'])
      assert.deepEqual(await found('valueof'), [])

      const labels = [{ name: 'team' }]
      const [first, second] = await keys.list(id, { limit: 2, labels })
      const rest = await keys.list(id, { limit: 2, labels, before: second?.id })
      const names = [first, second, ...rest].map((key) => key?.name)
      assert.deepEqual(names, ['number', 'b', 'a2', 'a1'])
    })

    test('labels in a file in another order are no change, and {} says the same as null', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const configurations = configurationsFor(store)
      const file = (labels: string) =>
        `version: 1\norganization: { slug: acme }\nkeys:\n  ci: { labels: ${labels} }\n`
      const by = {
        ...{ label: 'acme.yaml', prune: true, resolve: () => undefined },
        ...{ actor: operator, permissions: undefined },
      }
      const changes = async (labels: string) => (await configurations.plan(file(labels), by)).length
      await configurations.apply(file('{ team: payments, env: prod }'), by)
      assert.equal(await changes('{ env: prod, team: payments }'), 0)
      assert.equal(await changes('{ env: prod }'), 1)
      await configurations.apply(file('{}'), by)
      assert.equal(await changes('null'), 0)
      await configurations.plan(file(`{ env: ${'🔑'.repeat(128)} }`), by)
      for (const [labels, sentence] of [
        [`{ env: ${'🔑'.repeat(129)} }`, /128 characters/],
        ['{ Team: x }', /is no name here: use a lower-case letter/],
        ['{ env: 1 }', /must be a text/],
        ['{ env: a, env: b }', /must be unique/],
        ['{ __proto__: x }', /is no name here/],
        [`{ ${Array.from({ length: 17 }, (_, n) => `l${n}: x`).join(', ')} }`, /more than 16/],
      ] as const) {
        await assert.rejects(configurations.plan(file(labels), by), sentence, labels)
      }
    })

    test('wrong labels are refused as invalid_input, the largest allowed ones are kept', async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { keys, id, issue } = await open(store)
      const many = (number: number) =>
        Object.fromEntries(Array.from({ length: number }, (_, n) => [`l${n}`, `${n}`]))
      for (const labels of [
        many(17),
        { Team: 'x' },
        { '1': 'x' },
        { '': 'x' },
        { 'team name': 'x' },
        { [`t${'x'.repeat(63)}`]: 'x' },
        { team: 'x'.repeat(129) },
        { team: 'a\nb' },
        { team: '\u0085' },
        JSON.parse('{"__proto__": "x"}') as Labels,
      ]) {
        await assert.rejects(
          issue('wrong', labels),
          (error) => error instanceof Problem && error.code === 'invalid_input',
          JSON.stringify(labels),
        )
      }
      const largest = { ...many(15), [`t${'x'.repeat(62)}`]: '🔑'.repeat(128) }
      const { key } = await issue('right', largest)
      assert.deepEqual((await keys.get(id, key.id)).labels, largest)
    })
  })
}

async function open(store: Store) {
  const { id } = await new Organizations({ store }).create({ slug: 'acme' }, operator)
  const keys = new Keys({ store, clock: store.clock })
  const issue = async (name: string, labels?: Labels) =>
    await keys.issue(id, { name, labels }, operator)
  return { keys, id, issue }
}
