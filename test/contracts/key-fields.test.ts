import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { everyField, fieldsFromJson, fieldsToJson, Keys } from '../../src/access/index.ts'
import { ApiKey } from '../../src/api/routes/key-schema.ts'
import { keySection } from '../../src/configuration/sections/keys.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { auditEntries, keys as keyRows, type Actor } from '../../src/store/index.ts'
import { exampleFields } from '../harness/key-examples.ts'
import { emptyPlace, engines } from './engines.ts'

const operator: Actor = { kind: 'operator' }

describe('the fields of a key', () => {
  test('every column that people decide is described, besides name and end', () => {
    const described = everyField.map(([, { column }]) => column)
    assert.deepEqual([...keyRows.editable].sort(), ['expiresAt', 'name', ...described].sort())
  })

  test('a field comes back from JSON and from a file as it was', () => {
    const json = fieldsToJson(exampleFields)
    assert.ok(Object.values(json).every((value) => value !== null))
    const again = fieldsToJson(fieldsFromJson(JSON.parse(JSON.stringify(json))))
    assert.deepEqual(again, json)
    // Only grants are written differently in files: as text.
    const entry = { ...json, grants: everyField[0]?.[1].flag.examples }
    assert.deepEqual(keySection.tidy(entry), entry)
  })

  test('what people only see of a key is in the API as its column is declared', () => {
    const names = Object.keys(keyRows.shownSchemas)
    assert.ok(names.includes('last_used_at') && names.includes('created_by'))
    const properties: Readonly<Record<string, unknown>> = ApiKey.properties
    for (const [name, schema] of Object.entries(keyRows.shownSchemas)) {
      assert.deepEqual({ ...(properties[name] as object) }, schema, name)
    }
  })

  test('a number that the API takes is in the bounds of a file, too, and no other is', () => {
    const inFiles = boundsIn(keySection.schema)
    const inApi = everyField.flatMap(([name, { schema }]) => boundsIn(schema, name))
    assert.ok(inApi.length > 0)
    assert.deepEqual(inFiles, inApi)
  })

  for (const engine of engines) {
    test(`a field is stored, changed, cleared and recorded in the audit log, on ${engine}`, async () => {
      await using place = await emptyPlace(engine)
      await using store = await place.open()
      const { id } = await new Organizations({ store }).create({ slug: 'acme' }, operator)
      const keys = new Keys({ store, clock: store.clock })
      const { key } = await keys.issue(id, { name: 'ci', ...exampleFields }, operator)
      const stored = await keys.get(id, key.id)
      assert.deepEqual(fieldsToJson(stored), fieldsToJson(exampleFields))

      const cleared = await keys.edit(id, key.id, { input: { name: 'ci' }, actor: operator })
      for (const [name, value] of Object.entries(fieldsToJson(cleared))) {
        assert.equal(value, null, name)
      }

      const entries = await auditEntries.listFrom(store, {
        organizationId: id,
        fromSequence: 0,
        limit: 10,
      })
      const details = entries
        .filter(({ action }) => action.startsWith('api_key.'))
        .map(({ detail }) => JSON.parse(detail) as Readonly<Record<string, unknown>>)
      const [issued, edited] = details
      const { before } = edited as { before: Readonly<Record<string, unknown>> }
      for (const [name] of everyField) {
        assert.ok(issued?.[name] !== undefined, `${name} when it is issued`)
        assert.deepEqual(before[name], issued?.[name], `${name} before the edit`)
      }
    })
  }
})

/** Lists the path and the bounds of each integer in a schema, nullable or not, except in arrays. */
function boundsIn(schema: unknown, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { type, minimum, maximum, properties = {}, anyOf = [] } = schema as Shape
  if (type === 'integer') return [`${path} ${minimum} to ${maximum}`]
  const members = Object.entries(properties).flatMap(([name, member]) =>
    boundsIn(member, path === '' ? name : `${path}.${name}`),
  )
  return [...members, ...anyOf.flatMap((one) => boundsIn(one, path))]
}

interface Shape {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, unknown>>
  readonly anyOf?: readonly unknown[]
}
