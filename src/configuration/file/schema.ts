import { targetSlugPattern } from '../../ids.ts'
import { Type, type TSchema } from '../../http/index.ts'
import { KeyDefaultsSchema, sections } from '../sections/index.ts'
import { sectionKeys, type SectionKey } from '../sections/section.ts'
import { object } from '../sections/fields.ts'

const maxThings = 10_000

/** For each section, the pattern that the names in a file must match. */
const names: Readonly<Record<Exclude<SectionKey, 'organization'>, string>> = {
  targets: targetSlugPattern,
  endpoints: '^[a-z0-9][a-z0-9-]{0,80}$',
  connections: '^[a-z0-9][a-z0-9-]{0,80}$',
  domains: '^[a-z0-9.-]{1,253}$',
  groups: '^.{1,256}$',
  keys: '^[a-z0-9][a-z0-9-]{0,80}$',
}

const maps = sectionKeys.flatMap((key): [string, TSchema][] =>
  key === 'organization' ? [] : [[key, mapped(key)]],
)

/** The schema of the whole file, used by editors and `readFile`. */
export const fileSchema: TSchema = object(
  {
    version: Type.Unsafe<number>({ const: 1, description: 'The version of this format.' }),
    organization: { ...sections.organization.schema, required: ['slug'] },
    key_defaults: KeyDefaultsSchema,
    ...Object.fromEntries(maps),
  },
  ['version', 'organization'],
)

/** The schema as a separate document, served at /schemas/organization.json and included in the package. */
export function schemaDocument(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of an organization in Intercept',
    ...(JSON.parse(JSON.stringify(fileSchema)) as Record<string, unknown>),
  }
}

function mapped(key: Exclude<SectionKey, 'organization'>): TSchema {
  const { noun, schema } = sections[key]
  return Type.Unsafe({
    type: 'object',
    description: `Each ${noun} by its name.`,
    propertyNames: { pattern: names[key] },
    additionalProperties: schema,
    maxProperties: maxThings,
  })
}
