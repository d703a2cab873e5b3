import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { columns, flag, json, maybe, number, text, time } from './columns.ts'

const table = columns(
  {
    id: text<'a' | 'b'>(),
    isDefault: flag(),
    endsAt: maybe(time()),
    limits: maybe(json<{ readonly perSeconds: number }>()),
    version: number(),
  },
  { digest: text() },
)
const row = {
  id: 'a',
  is_default: 1,
  ends_at: 0,
  limits: '{"perSeconds":5}',
  version: 2,
  digest: 'd',
} as const
const record = {
  id: 'a',
  isDefault: true,
  endsAt: 0,
  limits: { perSeconds: 5 },
  version: 2,
} as const

describe('columns', () => {
  test('a row becomes a record, without its hidden columns', () => {
    assert.deepEqual(table.fromRow(row), record)
  })

  test('each kind of column says the JSON Schema of what it shows', () => {
    assert.deepEqual(text().schema, { type: 'string' })
    assert.deepEqual(number().schema, { type: 'integer' })
    assert.deepEqual(flag().schema, { type: 'boolean' })
    const orNull = { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] }
    assert.deepEqual(maybe(time()).schema, orNull)
  })

  test('null in a row is undefined in a record, and the other way round', () => {
    const nothing = { ...row, ends_at: null, limits: null }
    const read = table.fromRow(nothing)
    assert.deepEqual(read, { ...record, endsAt: undefined, limits: undefined })
    assert.deepEqual(table.toRow({ ...read, digest: 'd' }), nothing)
  })

  test('only the values that are given are written', () => {
    assert.deepEqual(table.toRow({ isDefault: false }), { is_default: 0 })
    assert.deepEqual(table.toRow({ endsAt: undefined }), { ends_at: null })
  })

  test('a value that no column is declared for is never written', () => {
    const more = { version: 3, organization: 'acme' }
    assert.deepEqual(table.toRow<'version'>(more), { version: 3 })
  })

  test('outside, times are ISO texts, nothing is null and names are in snake_case', () => {
    assert.deepEqual(table.toJson(record), {
      id: 'a',
      is_default: true,
      ends_at: '1970-01-01T00:00:00.000Z',
      limits: { per_seconds: 5 },
      version: 2,
    })
    assert.deepEqual(table.toJson({ limits: undefined }), { limits: null })
  })
})
