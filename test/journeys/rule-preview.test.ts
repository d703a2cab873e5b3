import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../harness/gateway.ts'
import { firstOwner, memberOf, type Person } from '../harness/person.ts'
import { productForTests, type TestProduct } from '../harness/product.ts'
import { engines } from '../harness/store.ts'
import { intercept } from '../harness/terminal.ts'
import { upstreamForTests, type TestUpstream } from '../harness/upstream.ts'
import { randomFrom } from '../harness/random.ts'

const at = '/organizations/acme'
const ruleSets = 200
/** The calls of the last 24 hours, with how often each was made. */
const made = [
  ['GET', '/orders', 3],
  ['GET', '/orders/1', 2],
  ['POST', '/orders', 1],
  ['DELETE', '/orders/1', 1],
  ['GET', '/admin/users', 2],
  ['DELETE', '/admin/users', 1],
  ['HEAD', '/admin', 1],
  ['GET', '/%61dmin/users', 1],
  ['GET', '/admin;a=1/users', 1],
  ['GET', '/', 1],
  ['PUT', '/orders/1/items/2', 1],
] as const
const all = made.reduce((sum, [, , times]) => sum + times, 0)

for (const engine of engines) {
  describe(`rules before they are saved on ${engine}`, () => {
    let product: TestProduct
    let owner: Person
    let upstream: TestUpstream
    let secret: string
    before(async () => {
      upstream = await upstreamForTests((_, response) => response.end('ok'))
      product = await productForTests({ engine })
      owner = await firstOwner(product)
      // Previews evaluate the calls made to `past`; rules are saved on `real` to see what they really do to such calls.
      for (const slug of ['past', 'real']) {
        const target = await owner.call(`POST ${at}/targets`, { slug, upstream: upstream.url })
        assert.equal(target.status, 201, target.text)
      }
      secret = (await owner.call(`POST ${at}/keys`, { name: 'caller' })).json.secret
      for (const [method, path, times] of made) {
        for (let time = 0; time < times; time++) assert.equal(await pass('past', method, path), 200)
      }
      // This call is refused before any rule is evaluated, so no rule can change that.
      assert.equal(await pass('past', 'GET', '/a%2Fb'), 400)
      await until(async () => (await owner.call(`GET ${at}/calls`)).json.items.length === all + 1)
    })
    after(async () => {
      await product[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    })

    async function pass(slug: string, method: string, path: string): Promise<number> {
      const url = `http://127.0.0.1:${product.port}/api/v1/intercept/${slug}${path}`
      const answer = await fetch(url, { method, headers: { 'x-api-key': secret } })
      await answer.arrayBuffer()
      return answer.status
    }

    async function preview(draft: object) {
      const answer = await owner.call(`POST ${at}/targets/past/rules/preview`, draft)
      assert.equal(answer.status, 200, answer.text)
      return answer.json
    }

    test(`the counts of ${ruleSets} generated rule sets are what happens when they are saved`, async () => {
      const random = randomFrom(16)
      for (let set = 0; set < ruleSets; set++) {
        const draft = generate(random)
        const foreseen = await preview(draft)
        const saved = await owner.call(`PUT ${at}/targets/real/rules`, draft)
        assert.equal(saved.status, 200, saved.text)
        assert.equal(saved.json.otherwise, foreseen.otherwise)
        let refused = 0
        const statuses = made.map(async ([method, path]) => await pass('real', method, path))
        for (const [index, status] of (await Promise.all(statuses)).entries()) {
          const [method, path, times] = made[index] ?? made[0]
          assert.ok(status === 200 || status === 403, `${status}`)
          const item = foreseen.items.find(
            (one: { method: string; path: string }) => one.method === method && one.path === path,
          )
          assert.equal(item?.calls, status === 403 ? times : undefined, JSON.stringify(draft))
          if (status === 403) refused += times
        }
        const { calls, refused: count, newly_refused: newly, others } = foreseen
        assert.deepEqual([calls, count, newly, others], [all, refused, refused, 0])
      }
    })

    test('it says what present rules refuse that others would allow, and the rule that refuses', async () => {
      const rules = [rule('deny', '/admin/*', ['DELETE']), rule('allow', '/orders/*')]
      await owner.call(`PUT ${at}/targets/past/rules`, { rules })
      const same = await preview({})
      assert.deepEqual([same.newly_refused, same.newly_allowed, same.refused], [0, 0, 7])
      const removal = same.items.find((one: { method: string }) => one.method === 'DELETE')
      assert.deepEqual([removal.rule, removal.path], [1, '/admin/users'])
      assert.equal(same.items.find((one: { path: string }) => one.path === '/').rule, null)
      const open = await preview({ otherwise: 'allow' })
      assert.deepEqual([open.newly_refused, open.newly_allowed, open.refused], [0, 6, 1])
      const none = await preview({ rules: [], otherwise: null })
      assert.deepEqual([none.newly_allowed, none.refused, none.otherwise], [7, 0, 'allow'])
      await owner.call(`PUT ${at}/targets/past/rules`, { rules: [] })
    })

    test('a draft that could not be saved is refused; who may not edit rules may not try them on', async () => {
      const wrong = await owner.call(`POST ${at}/targets/past/rules/preview`, {
        rules: [rule('deny', 'no-slash')],
      })
      assert.equal(wrong.json.code, 'invalid_input')
      const viewer = await memberOf(product, 'acme', { email: 'vic@acme.test', role: 'viewer' })
      const answer = await viewer.call(`POST ${at}/targets/past/rules/preview`, {})
      assert.equal(answer.json.code, 'permission_required')
    })

    test('one deny rule closes nothing else; the last line is kept, shown, and taken back', async () => {
      const rules = [rule('deny', '/admin/*', ['DELETE'])]
      const first = await owner.call(`PUT ${at}/targets/real/rules`, { rules, otherwise: null })
      assert.deepEqual([first.json.otherwise, first.json.otherwise_set], ['allow', false])
      assert.equal(await pass('real', 'GET', '/orders'), 200)
      const closed = await owner.call(`PATCH ${at}/targets/real`, { otherwise: 'refuse' })
      assert.deepEqual([closed.json.otherwise, closed.json.otherwise_set], ['refuse', true])
      assert.equal(await pass('real', 'GET', '/orders'), 403)
      const tried = await owner.call(`POST ${at}/targets/real/try`, {
        ...{ method: 'GET', path: '/orders' },
        key_id: (await owner.call(`GET ${at}/keys`)).json.items[0].id,
      })
      assert.deepEqual([tried.json.stopped_at, tried.json.otherwise], ['rules', 'refuse'])
      assert.match(tried.json.detail, /otherwise: refuse/)
      // Saving only the rules leaves `otherwise` unchanged.
      const kept = await owner.call(`PUT ${at}/targets/real/rules`, { rules })
      assert.equal(kept.json.otherwise, 'refuse')
      const back = await owner.call(`PATCH ${at}/targets/real`, { otherwise: null })
      assert.deepEqual([back.json.otherwise, back.json.otherwise_set], ['allow', false])
    })

    test('the command line says the same before it saves, and nothing is saved on a dry run', async () => {
      const env = { ...product.env }
      const words = ['target', 'set', 'acme', 'past', '--rule', 'deny DELETE /admin/*']
      const dry = await intercept([...words, '--dry-run'], { env })
      assert.equal(dry.code, 0, dry.err)
      assert.match(dry.out, new RegExp(`In the last 24 hours: 1 of ${all} calls would be refused`))
      assert.match(dry.out, /^1 {6}DELETE {2}\/admin\/users {2}rule 1 {6}new$/m)
      assert.equal((await owner.call(`GET ${at}/targets/past`)).json.rules.length, 0)
      const set = await intercept([...words, '--otherwise', 'refuse', '--json'], { env })
      const data = JSON.parse(set.out)
      assert.deepEqual([data.preview.refused, data.otherwise], [all, 'refuse'])
      const show = await intercept(['target', 'show', 'acme', 'past'], { env })
      assert.match(show.out, / {2}1\. deny DELETE \/admin\/\*\n {2}otherwise: refuse$/)
      assert.equal((await intercept([...words, '--otherwise', 'maybe'], { env })).code, 2)
      await intercept(['target', 'set', 'acme', 'past', '--no-rules', '--otherwise', 'default'], {
        env,
      })
    })
  })
}

function rule(effect: 'allow' | 'deny', path: string, methods: string[] = [], trial = false) {
  return { effect, methods, path, trial }
}

function generate(random: () => number) {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const paths = [
    '/*',
    '/orders',
    '/orders/*',
    '/admin/*',
    '/*/1',
    '/admin/users',
    '/orders/*/items/*',
  ]
  const methods = [[], ['GET'], ['DELETE'], ['POST', 'PUT']]
  const rules = Array.from({ length: Math.floor(random() * 5) }, () =>
    rule(pick(['allow', 'deny']), pick(paths), pick(methods), random() < 0.3),
  )
  return { rules, otherwise: pick([null, null, 'allow', 'refuse']) }
}
