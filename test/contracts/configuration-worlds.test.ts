import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { organizations } from '../../src/store/index.ts'
import { configurationsFor, fileOf, operator, secretFor } from '../harness/configuration-worlds.ts'
import { engines, storeForTests, type TestStore } from '../harness/store.ts'
import { randomFrom } from '../harness/random.ts'

const worlds = 15

for (const engine of engines) {
  describe(`generated configurations on ${engine}`, () => {
    let place: TestStore
    before(async () => void (place = await storeForTests(engine)))
    after(async () => await place[Symbol.asyncDispose]())

    const by = {
      ...{ label: 'w.yaml', prune: true, resolve: secretFor },
      ...{ actor: operator, permissions: undefined },
    }

    test(`after an apply the plan is empty, and what was exported says the same (${worlds} worlds, each changed twice)`, async () => {
      const configurations = configurationsFor(place.store)
      const random = randomFrom(20_261_122)
      for (let world = 0; world < worlds; world++) {
        const slug = `w${world}`
        for (let round = 0; round < 2; round++) {
          const text = fileOf(random, slug)
          await configurations.apply(text, by)
          assert.equal(JSON.stringify(await configurations.plan(text, by)), '[]', text)
          const organization = await organizations.findBySlug(place.store, slug)
          const exported = await configurations.export(organization!)
          assert.equal(JSON.stringify(await configurations.plan(exported.text, by)), '[]')
          assert.ok(!exported.text.includes('canary'))
        }
      }
    })

    test('what is applied to an empty database exports the same bytes there', async () => {
      await using other = await storeForTests(engine)
      const [here, there] = [configurationsFor(place.store), configurationsFor(other.store)]
      for (let world = 0; world < 10; world++) {
        const organization = await organizations.findBySlug(place.store, `w${world}`)
        const { text } = await here.export(organization!)
        await there.apply(text, by)
        const copy = await organizations.findBySlug(other.store, `w${world}`)
        assert.equal((await there.export(copy!)).text, text)
      }
    })
  })
}
