import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { describeRoutes } from '../../src/api/description/openapi.ts'
import { routes } from '../../src/api/routes.ts'
import { faultsOf } from '../harness/events.ts'
import { validate } from './openapi-validator.ts'

type Schema = Parameters<typeof faultsOf>[1]

interface Media {
  readonly schema: Schema
  readonly example?: unknown
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, Media> }>>
}

const baseUrl = 'http://localhost:8080'
const document = JSON.parse(
  JSON.stringify(describeRoutes(routes, { baseUrl, version: '1.0.0' })),
) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: Readonly<Record<string, unknown>>
  readonly tags: readonly { readonly name: string }[]
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, { readonly content: Record<string, Media> }>>
  }
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
)

describe('the OpenAPI document', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'intercept-openapi-'))
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function tool(name: string, words: readonly string[]): Promise<void> {
    const at = join(import.meta.dirname, '../../node_modules/.bin', name)
    const child = spawn(at, words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0, name)
  }

  test('two independent validators find nothing wrong', async () => {
    assert.deepEqual((await validate(document)).errors, [])
    const name: string = '@readme/openapi-parser'
    const parser = (await import(name)) as {
      validate: (file: string) => Promise<{ valid: boolean; warnings: unknown[] }>
    }
    const found = await parser.validate(join(folder, 'openapi.json'))
    assert.deepEqual([found.valid, found.warnings], [true, []])
  })

  test('two generators make clients of it whose types hold', async () => {
    await tool('openapi', ['--input', 'openapi.json', '--output', 'one', '--client', 'fetch'])
    await tool('swagger-typescript-api', [
      ...['generate', '-p', join(folder, 'openapi.json')],
      ...['-o', join(folder, 'two'), '-n', 'api.ts', '--silent'],
    ])
    assert.ok(existsSync(join(folder, 'one', 'services', 'KeysService.ts')))
    const compilerOptions = {
      ...{ noEmit: true, strict: true, target: 'es2022', module: 'esnext', types: [] },
      ...{ moduleResolution: 'bundler', skipLibCheck: true, lib: ['es2022', 'dom'] },
    }
    const config = { compilerOptions, include: ['one', 'two'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    await tool('tsc', ['-p', folder])
  })

  test('every operation has a short name of its own, a tag that is explained, and every refusal it may give', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    assert.deepEqual(
      ids.filter((id) => id.length > 30),
      [],
    )
    const tags = new Set(document.tags.map(({ name }) => name))
    for (const { name, operation } of operations) {
      assert.ok(
        operation.tags.every((tag) => tags.has(tag)),
        name,
      )
      for (const status of ['404', '429', '503']) assert.ok(operation.responses[status], name)
    }
    assert.ok(document.webhooks['api_key.revoked'])
    assert.ok(document.paths['/intercept'] && document.paths['/intercept/-/check'])
  })

  test('every body and every answer has an example that its schema lets through', () => {
    const wrong = operations.flatMap(({ name, operation }) => {
      const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((one) =>
        Object.values(one?.content ?? {}),
      )
      return media.flatMap(({ schema, example }) =>
        example === undefined
          ? [`${name} has no example`]
          : faultsOf(example, whole(schema)).map((fault) => `${name}: ${fault}`),
      )
    })
    assert.deepEqual(wrong, [])
    for (const { content } of Object.values(document.components.responses)) {
      for (const { schema, example } of Object.values(content)) {
        assert.deepEqual(faultsOf(example, whole(schema)), [])
      }
    }
  })
})

/** Returns a schema with every reference replaced by the component itself. */
function whole(schema: unknown): Schema {
  if (Array.isArray(schema)) return schema.map(whole) as unknown as Schema
  if (typeof schema !== 'object' || schema === null) return schema as Schema
  const { $ref } = schema as { $ref?: string }
  const name = $ref?.split('/').at(-1)
  if (name !== undefined) return whole(document.components.schemas[name])
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, whole(part)]))
}
