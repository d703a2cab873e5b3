import assert from 'node:assert/strict'
import { events, type Store } from '../../src/store/index.ts'
import { assertSnakeCase } from './casing.ts'
import { eventTypes } from '../../src/webhooks/index.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const known = new Map(eventTypes.map(({ type, schema }) => [type, schema as Schema]))

/** Lists where a value violates its schema; supports only the part of JSON Schema that the catalogue uses. */
export function faultsOf(value: unknown, schema: Schema, at = 'body'): string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(value, type))) {
    return [`${at} is no ${types.join(' or ')}: ${JSON.stringify(value)}`]
  }
  const faults: string[] = []
  if (schema.const !== undefined && value !== schema.const) faults.push(`${at} is another`)
  if (typeof value === 'number' && value < (schema.minimum ?? value)) faults.push(`${at} is small`)
  if (typeof value === 'string') {
    if (schema.pattern && !new RegExp(schema.pattern).test(value)) faults.push(`${at}: ${value}`)
    if (schema.format === 'date-time' && new Date(value).toISOString() !== value) {
      faults.push(`${at} is no time: ${value}`)
    }
  }
  if (typeof value === 'object' && value !== null) {
    const members = value as Record<string, unknown>
    for (const name of schema.required ?? []) {
      if (!(name in members)) faults.push(`${at}.${name} is missing`)
    }
    for (const [name, part] of Object.entries(schema.properties ?? {})) {
      if (name in members) faults.push(...faultsOf(members[name], part, `${at}.${name}`))
    }
  }
  return faults
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null
  if (type === 'array') return Array.isArray(value)
  return typeof value === type
}

/** Asserts that an organization's events (the first 1,000) match the catalogue; returns the types found. */
export async function eventsThatFit(store: Store, organizationId: string): Promise<string[]> {
  const rows = await events.listAfter(store, organizationId, { after: 0, limit: 1000 })
  const types = new Set<string>()
  for (const { type, body } of rows) {
    types.add(type)
    const schema = known.get(type)
    assert.ok(schema, `no type ${type}`)
    const said: unknown = JSON.parse(Buffer.from(body).toString())
    assertSnakeCase(said, type)
    const faults = faultsOf(said, schema)
    assert.deepEqual(faults, [], `${type}: ${Buffer.from(body).toString()}`)
  }
  return [...types].toSorted()
}
