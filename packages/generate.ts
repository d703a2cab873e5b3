// node packages/generate.ts [--check]: writes what is made from the table of routes and the schema of files.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeRoutes } from '../src/api/description/openapi.ts'
import { routes } from '../src/api/routes.ts'
import { schemaDocument } from '../src/configuration/index.ts'

const root = join(import.meta.dirname, '..')

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly 'x-permission': string
  readonly parameters?: readonly {
    readonly $ref?: string
    readonly name: string
    readonly in: string
    readonly schema: Schema
  }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

const document = describeRoutes(routes, { baseUrl: '', version: '0' }) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const files: Readonly<Record<string, string>> = {
  'packages/client/src/api.ts': clientApi(),
  'docs/schemas/organization.json': `${JSON.stringify(schemaDocument(), null, 2)}\n`,
}
const isCheck = process.argv.includes('--check')
let stale = 0
for (const [path, text] of Object.entries(files)) {
  const at = join(root, path)
  if (!isCheck) {
    writeFileSync(at, text)
  } else if (readFileSync(at, 'utf8') !== text) {
    console.log(`${path} is not what the routes say now: node packages/generate.ts`)
    stale++
  }
}
process.exit(stale === 0 ? 0 : 1)

function clientApi(): string {
  const { Problem, ...schemas } = document.components.schemas
  const codes = Problem?.properties?.['code']?.enum ?? []
  const types = Object.entries(schemas)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema)}`)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation['x-permission'] !== 'key')
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const rows = operations.map(({ path, method, operation }) => {
    const isCreation = operation.parameters?.some(({ $ref }) => $ref?.endsWith('IdempotencyKey'))
    return `  ${operation.operationId}: [${[method, path].map((text) => JSON.stringify(text)).join(', ')}, ${String(isCreation === true)}],`
  })
  const signatures = operations.map(
    ({ operation }) =>
      `  /** ${operation.summary}. */\n  ${operation.operationId}: { input: ${inputOf(operation)}; output: ${outputOf(operation)} }`,
  )
  return [
    '// Made by packages/generate.ts from the table of routes; do not edit.',
    `/** Why something was refused. */\nexport type ProblemCode = ${codes.map((code) => JSON.stringify(code)).join(' | ')}`,
    ...types,
    `/** What each operation takes and answers. */\nexport interface Operations {\n${signatures.join('\n')}\n}`,
    `/** Method, path, and whether it creates something (then it takes an Idempotency-Key). */\nexport const operations: { readonly [Name in keyof Operations]: readonly [method: string, path: string, isCreation: boolean] } = {\n${rows.join('\n')}\n}`,
    '',
  ].join('\n\n')
}

function inputOf({ parameters = [], requestBody }: Operation): string {
  const ofPath = parameters.filter((one) => one.in === 'path').map(({ name }) => `${name}: string`)
  const ofQuery = parameters
    .filter((one) => one.in === 'query')
    .map(({ name, schema }) => `${name}?: ${typeOf(schema)}`)
  const query = ofQuery.length === 0 ? [] : [`query?: { ${ofQuery.join('; ')} }`]
  const schema = requestBody?.content?.['application/json']?.schema
  const isOptional = schema !== undefined && (schema.required ?? []).length === 0
  const body = schema === undefined ? [] : [`body${isOptional ? '?' : ''}: ${typeOf(schema)}`]
  const all = [...ofPath, ...query, ...body]
  return all.length === 0 ? 'Record<string, never>' : `{ ${all.join('; ')} }`
}

function outputOf({ responses }: Operation): string {
  const found = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  if (found?.content === undefined) return 'undefined'
  const schema = found.content['application/json']?.schema
  return schema === undefined ? 'string' : typeOf(schema)
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown'
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  switch (schema.type) {
    case 'object':
      return objectType(schema)
    case 'array':
      return `(${typeOf(schema.items ?? {})})[]`
    case 'integer':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    default:
      return 'unknown'
  }
}

function objectType(schema: Schema): string {
  const { properties, required = [], additionalProperties, patternProperties } = schema
  if (properties === undefined) {
    const value =
      typeof additionalProperties === 'object'
        ? additionalProperties
        : Object.values(patternProperties ?? {})[0]
    return `Record<string, ${value === undefined ? 'unknown' : typeOf(value)}>`
  }
  const members = Object.entries(properties).map(
    ([name, one]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(one)}`,
  )
  return members.length === 0 ? 'object' : `{ ${members.join('; ')} }`
}
