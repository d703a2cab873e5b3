import assert from 'node:assert/strict'

const snake = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
/** Members that contain names chosen by others: headers, JSON Schema keywords, SCIM attributes. */
const foreign = new Set(['headers', 'schema', 'attributes'])

/** Members of an exported organization whose own members are named by people. */
const named = new Set(['targets', 'endpoints', 'connections', 'domains', 'groups', 'keys'])

/** Lists our own names in a JSON value that are not snake_case, each with its path. */
export function otherNames(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => otherNames(one, `${at}[]`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const where = `${at}.${name}`
    if (foreign.has(name)) return snake.test(name) ? [] : [where]
    const parts = named.has(name) && !Array.isArray(inner) ? Object.values(inner ?? {}) : [inner]
    return [
      ...(snake.test(name) ? [] : [where]),
      ...parts.flatMap((part) => otherNames(part, where)),
    ]
  })
}

/** Lists the member names in a JSON Schema that are not snake_case. */
export function otherNamesOfSchema(schema: unknown, at = ''): string[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => otherNamesOfSchema(one, at))
  if (typeof schema !== 'object' || schema === null) return []
  const { properties, ...rest } = schema as { properties?: Readonly<Record<string, unknown>> }
  const inside = Object.entries(rest).flatMap(([word, part]) =>
    otherNamesOfSchema(part, `${at}/${word}`),
  )
  const members = Object.entries(properties ?? {}).flatMap(([name, part]) => [
    ...(snake.test(name) ? [] : [`${at}.${name}`]),
    ...otherNamesOfSchema(part, `${at}.${name}`),
  ])
  return [...inside, ...members]
}

export function assertSnakeCase(value: unknown, what: string): void {
  assert.deepEqual(otherNames(value), [], `${what} has names that are not snake_case`)
}
