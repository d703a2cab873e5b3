import AjvCompiler from '@fastify/ajv-compiler'
import SerializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyServerOptions } from 'fastify'

type Factories = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>
type Compile<T> = (part: { readonly schema?: unknown }) => T
type Validator = ((data: unknown) => unknown) & { errors?: unknown }
type Serializer = (data: unknown) => string

const validators = new WeakMap<object, Validator>()
const serializers = new WeakMap<object, Serializer>()

/**
 * Compiles each schema with Fastify's own compilers when a request first needs it: compiling the schemas of all routes
 * would make every start 0.3 s longer, and most nodes use few of them. A compiled schema is kept and shared by all apps
 * of the process.
 */
export const lazyCompilers: Factories = {
  buildValidator: ((shared: unknown, options: Parameters<ReturnType<typeof AjvCompiler>>[1]) => {
    refuseShared(shared)
    const compile = AjvCompiler()({}, options) as unknown as Compile<Validator>
    return ({ schema }: { readonly schema: object }): Validator => {
      const validate: Validator = (data) => {
        const compiled = kept(validators, schema, compile)
        const result = compiled(data)
        validate.errors = compiled.errors
        return result
      }
      return validate
    }
  }) as NonNullable<Factories['buildValidator']>,
  buildSerializer: (shared, options) => {
    refuseShared(shared)
    const compile = SerializerSelector()({}, options) as Compile<Serializer>
    return ({ schema }) =>
      (data) =>
        kept(serializers, schema as object, compile)(data)
  },
}

/**
 * Refuses shared schemas: a schema that refers to them could compile differently in another app, so its result could
 * not be kept.
 */
function refuseShared(shared: unknown): void {
  if (Object.keys(shared ?? {}).length > 0) throw new Error('A route refers to no shared schema.')
}

function kept<T>(compiled: WeakMap<object, T>, schema: object, compile: Compile<T>): T {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const made = compile({ schema })
  compiled.set(schema, made)
  return made
}
