import {
  everyField,
  fieldsFromJson,
  fieldsToJson,
  grantText,
  type Key,
  type KeyInput,
} from '../../access/index.ts'
import { Type, type TSchema } from '../../http/index.ts'
import { nullable, quotaUpTo, rateUpTo, texts } from './fields.ts'
import type { Entry } from './section.ts'

/**
 * The fields whose schema in configuration files differs from the API's: people write grants as text, and editors show
 * descriptions.
 */
const schemasInFiles: Readonly<Record<string, TSchema>> = {
  grants: texts(100, 'Targets it may call, as TARGET or TARGET:METHOD,METHOD; null = all.'),
  cidrs: texts(100, 'Addresses it may come from; null = any.'),
  rate_limit: rateUpTo(1_000_000_000),
  quota: quotaUpTo(1_000_000_000_000),
}

/** The schemas of a key's fields in configuration files. */
export function fieldSchemas(): Record<string, TSchema> {
  return Object.fromEntries(
    everyField.map(([name, { schema }]) => [
      name,
      nullable(schemasInFiles[name] ?? Type.Unsafe(schema)),
    ]),
  )
}

/** A key's fields as a file shows them; null for a field that is not set. */
export function fieldsInFile(key: Partial<Key>): Entry {
  return { ...fieldsToJson(key), grants: key.grants?.map(grantText) ?? null }
}

/** Reads the fields of a file's entry; null and missing become undefined. */
export function fieldsFromFile({ grants, ...entry }: Entry): Omit<KeyInput, 'name'> {
  const granted = grants as readonly string[] | null | undefined
  return { ...fieldsFromJson(entry), grants: granted?.map(parseGrant) }
}

/** Throws `invalid_input` for values that no key can have. */
export function checkFields(entry: Entry): void {
  const fields = fieldsFromFile(entry)
  for (const [, field] of everyField) {
    const value = fields[field.column]
    if (value !== undefined) field.check?.(value)
  }
}

/** Normalizes the fields that an entry has. */
export function tidyFields(entry: Entry): Entry {
  const tidied = Object.entries(fieldsInFile(fieldsFromFile(entry)))
  return Object.fromEntries(tidied.filter(([name]) => entry[name] !== undefined))
}

/** Parses a grant without checking its methods; `checkFields` refuses unknown methods, with the API's message. */
function parseGrant(text: string): { readonly target: string; readonly methods?: string[] } {
  const [target = '', methods] = text.split(':')
  return methods === undefined
    ? { target }
    : { target, methods: methods.split(',').map((one) => one.trim().toUpperCase()) }
}
