import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engines } from '../../harness/store.ts'
import {
  directoryForTests,
  enterpriseUrn,
  groupUrn,
  patchUrn,
  userUrn,
  type TestDirectory,
} from './directory.ts'

interface Declared {
  readonly name: string
  readonly type: string
  readonly multiValued: boolean
  readonly required: boolean
  readonly caseExact: boolean
  readonly mutability: string
  readonly returned: string
  readonly uniqueness: string
  readonly canonicalValues?: readonly string[]
  readonly subAttributes?: readonly Declared[]
}

/** A writable attribute, as /Schemas declares it. */
interface Writable {
  readonly urn: string
  readonly attribute: Declared
  /** Its path in PATCH requests and filters. */
  readonly path: string
}

const ofDocument = (document: Record<string, unknown>, { urn, attribute }: Writable): unknown => {
  const holder = urn === enterpriseUrn ? (document[urn] as Record<string, unknown>) : document
  return holder?.[attribute.name]
}

for (const engine of engines) {
  describe(`what /Schemas declares is so, on ${engine}`, () => {
    let directory: TestDirectory
    let writable: Writable[] = []
    let count = 0
    before(async () => {
      directory = await directoryForTests(engine)
      for (const urn of [userUrn, enterpriseUrn]) {
        const { body } = await directory.call('GET', `/Schemas/${urn}`)
        for (const attribute of body.attributes as Declared[]) {
          if (attribute.mutability !== 'readWrite') continue
          const path = urn === enterpriseUrn ? `${urn}:${attribute.name}` : attribute.name
          writable.push({ urn, attribute, path })
        }
      }
      assert.ok(writable.length >= 25)
    })
    after(async () => await directory[Symbol.asyncDispose]())

    function single(attribute: Declared): unknown {
      count += 1
      switch (attribute.type) {
        case 'boolean':
          return true
        case 'dateTime':
          return '2026-01-02T03:04:05.000Z'
        case 'reference':
          return `https://refs.example/${count}`
        case 'binary':
          return Buffer.from(`bytes ${count}`).toString('base64')
        case 'complex':
          return Object.fromEntries(
            (attribute.subAttributes ?? [])
              .filter(({ mutability }) => mutability !== 'readOnly')
              .map((part) => [part.name, single(part)]),
          )
        default:
          return attribute.canonicalValues?.[0] ?? `${attribute.name} ${count}`
      }
    }
    const value = (attribute: Declared): unknown =>
      attribute.multiValued ? [single(attribute)] : single(attribute)

    function whole(): Record<string, unknown> {
      const body: Record<string, unknown> = { schemas: [userUrn, enterpriseUrn] }
      const extension: Record<string, unknown> = {}
      for (const { urn, attribute } of writable) {
        const holder = urn === enterpriseUrn ? extension : body
        holder[attribute.name] = value(attribute)
      }
      return { ...body, userName: directory.unique(), [enterpriseUrn]: extension }
    }

    const patch = async (id: string, operation: Record<string, unknown>) =>
      await directory.call('PATCH', `/Users/${id}`, {
        schemas: [patchUrn],
        Operations: [operation],
      })

    test('RFC 7643 7: every attribute is taken by POST and PUT, and answered as it was given', async () => {
      const first = whole()
      const made = await directory.call('POST', '/Users', first)
      assert.equal(made.status, 201, JSON.stringify(made.body))
      const second = whole()
      const put = await directory.call('PUT', `/Users/${made.body.id}`, second)
      assert.equal(put.status, 200, JSON.stringify(put.body))
      const got = await directory.call('GET', `/Users/${made.body.id}`)
      for (const each of writable) {
        assert.deepEqual(ofDocument(made.body, each), ofDocument(first, each), `POST ${each.path}`)
        assert.deepEqual(ofDocument(put.body, each), ofDocument(second, each), `PUT ${each.path}`)
        assert.deepEqual(ofDocument(got.body, each), ofDocument(second, each), `GET ${each.path}`)
      }
    })

    test('RFC 7644 3.5.2: every attribute can be added, replaced, and removed unless it is required', async () => {
      const { id } = await directory.addUser()
      for (const each of writable) {
        const { attribute, path } = each
        let answeredLast: unknown
        for (const op of ['add', 'replace'] as const) {
          const input = value(attribute)
          const changed = await patch(id, { op, path, value: input })
          assert.equal(changed.status, 200, `${op} ${path}: ${JSON.stringify(changed.body)}`)
          const answered = ofDocument(changed.body, each)
          answeredLast = answered
          if (op === 'replace' || !attribute.multiValued) {
            assert.deepEqual(answered, input, `${op} ${path}`)
          }
        }
        const removed = await patch(id, { op: 'remove', path })
        if (attribute.required && path !== 'active') {
          assert.deepEqual([removed.status, removed.body.scimType], [400, 'mutability'], path)
          continue
        }
        assert.equal(removed.status, 200, path)
        // `active` always has a value, so removing it leaves the previous one.
        const left = path === 'active' ? answeredLast : undefined
        assert.equal(ofDocument(removed.body, each), left, `remove ${path}`)
        const got = await directory.call('GET', `/Users/${id}`)
        assert.equal(ofDocument(got.body, each), left, `GET after remove ${path}`)
      }
    })

    test('active removed or null deactivates nobody, brings nobody back, and is shown as it is', async () => {
      for (const [active, operation] of [
        [true, { op: 'remove', path: 'active' }],
        [false, { op: 'remove', path: 'active' }],
        [true, { op: 'replace', path: 'active', value: null }],
        [false, { op: 'replace', value: { active: null } }],
      ] as const) {
        const { id, userName } = await directory.addUser({ active })
        const removed = await patch(id, operation)
        assert.deepEqual([removed.status, removed.body.active], [200, active])
        const put = await directory.call('PUT', `/Users/${id}`, {
          schemas: [userUrn],
          userName,
          active: null,
        })
        assert.deepEqual([put.status, put.body.active], [200, active])
        const filter = `active eq ${active} and id eq "${id}"`
        const found = await directory.call(
          'GET',
          `/Users?${new URLSearchParams({ filter }).toString()}`,
        )
        assert.equal(found.body.totalResults, 1)
      }
    })

    test('RFC 7643 7: what is read-only is refused in a PATCH and passed over in POST and PUT', async () => {
      const { body } = await directory.call('GET', `/Schemas/${userUrn}`)
      const readOnly = (body.attributes as Declared[]).filter(
        ({ mutability }) => mutability === 'readOnly',
      )
      assert.ok(readOnly.length > 0)
      const { id } = await directory.addUser({ id: 'mine', meta: { version: 'mine' }, groups: [] })
      assert.notEqual(id, 'mine')
      for (const { name } of [...readOnly, { name: 'id' }, { name: 'meta' }]) {
        for (const op of ['add', 'replace', 'remove']) {
          const refused = await patch(id, { op, path: name, value: 'x' })
          assert.deepEqual([refused.status, refused.body.scimType], [400, 'mutability'], name)
        }
      }
    })

    test('RFC 7643 7: uniqueness and caseExact are kept as declared', async () => {
      const { body: user } = await directory.call('GET', `/Schemas/${userUrn}`)
      const unique = (user.attributes as Declared[]).filter(
        ({ uniqueness }) => uniqueness !== 'none',
      )
      assert.deepEqual(
        unique.map(({ name, caseExact }) => [name, caseExact]),
        [['userName', false]],
      )
      const userName = `Case${directory.unique()}`
      const shared = { displayName: 'Same', emails: [{ value: 'same@x.test' }] }
      await directory.addUser({ userName, ...shared })
      // Two users may have the same value of an attribute that is not declared unique.
      const { id } = await directory.addUser(shared)
      for (const [method, path] of [
        ['POST', '/Users'],
        ['PUT', `/Users/${id}`],
      ] as const) {
        const input = { schemas: [userUrn], userName: userName.toUpperCase() }
        const taken = await directory.call(method, path, input)
        assert.deepEqual([taken.status, taken.body.scimType], [409, 'uniqueness'], method)
      }
      const { body: group } = await directory.call('GET', `/Schemas/${groupUrn}`)
      const name = (group.attributes as Declared[]).find((each) => each.name === 'displayName')
      assert.equal(name?.uniqueness, 'server')
      const one = await directory.addGroup()
      const two = { schemas: [groupUrn], displayName: one.displayName.toUpperCase() }
      assert.equal((await directory.call('POST', '/Groups', two)).status, 409)
    })

    test('RFC 7644 3.4.2.2: every attribute answers to pr, null, eq and ne, assigned or not', async () => {
      const bare = (await directory.addUser()).id as string
      const full = (await directory.call('POST', '/Users', whole())).body
      const found = async (filter: string): Promise<[boolean, boolean]> => {
        const listed = await directory.call(
          'GET',
          `/Users?${new URLSearchParams({ filter, count: '1000', attributes: 'id' }).toString()}`,
        )
        assert.equal(listed.status, 200, `${filter}: ${JSON.stringify(listed.body)}`)
        const ids = new Set((listed.body.Resources as { id: string }[]).map((each) => each.id))
        return [ids.has(bare), ids.has(full.id)]
      }
      for (const { urn, attribute, path } of writable) {
        if (['userName', 'active'].includes(attribute.name)) continue
        assert.deepEqual(await found(`${path} pr`), [false, true], `${path} pr`)
        assert.deepEqual(await found(`${path} eq null`), [true, false], `${path} eq null`)
        assert.deepEqual(await found(`${path} ne null`), [false, true], `${path} ne null`)
        assert.deepEqual(await found(`not (${path} pr)`), [true, false], `not ${path} pr`)
        const holder = urn === enterpriseUrn ? full[urn] : full
        const given = [holder[attribute.name]].flat()[0] as Record<string, unknown>
        const compared =
          attribute.type === 'complex'
            ? (attribute.subAttributes ?? [])
                .filter((part) => part.type !== 'boolean' && given[part.name] !== undefined)
                .map((part) => [`${path}.${part.name}`, given[part.name]] as const)
            : [[path, given] as const]
        for (const [name, own] of compared) {
          const text = JSON.stringify(own)
          assert.deepEqual(await found(`${name} eq ${text}`), [false, true], `${name} eq`)
          assert.deepEqual(await found(`${name} ne ${text}`), [true, false], `${name} ne`)
          const nested = `not (not (${name} eq ${text}))`
          assert.deepEqual(await found(nested), [false, true], nested)
        }
      }
    })
  })
}
