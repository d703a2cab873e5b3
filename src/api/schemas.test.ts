import AjvCompiler from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exampleOf } from './description/example.ts'
import { routes } from './routes.ts'

// A node compiles a schema only at the first request that needs it, so a node with a faulty schema would still start.
describe('the schemas of the routes', () => {
  // The compiler's type asks for the whole definition of a route, but the compiler reads only the schema.
  const compile = AjvCompiler()(
    {},
    { customOptions: { coerceTypes: false } },
  ) as unknown as (part: { readonly schema: object }) => unknown
  const serializerOf = SerializerSelector()()
  const where = { method: 'GET', url: '/', httpStatus: '200' }

  test('every schema of a body and of a query compiles', () => {
    for (const [name, { body, query }] of Object.entries(routes)) {
      for (const schema of [body, query]) {
        if (schema === undefined) continue
        assert.doesNotThrow(() => compile({ schema }), name)
      }
    }
  })

  test('every schema of a response compiles, and writes its example whole', () => {
    for (const [name, { answer }] of Object.entries(routes)) {
      if (answer === undefined) continue
      const example = exampleOf(answer)
      const written: unknown = JSON.parse(serializerOf({ ...where, schema: answer })(example))
      assert.deepEqual(written, JSON.parse(JSON.stringify(example)), name)
    }
  })
})
