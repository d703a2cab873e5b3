import type { KeyEdit, KeyInput } from '../../store/index.ts'
import type { FieldColumn, KeyField } from './key-field.ts'
import { keyFields } from './key-fields.ts'

type Fields = typeof keyFields

/** The fields of a key in JSON; null means none. */
export type KeyFieldsJson = {
  [Name in keyof Fields]: ReturnType<Fields[Name]['toJson']> | null
}

export const everyField = Object.entries(keyFields) as readonly (readonly [
  keyof Fields,
  KeyField<FieldColumn, unknown>,
])[]

export function fieldsToJson(key: Partial<KeyEdit>): KeyFieldsJson {
  const shown = everyField.map(([name, field]) => {
    const value = key[field.column]
    return [name, value === undefined ? null : field.toJson(value)]
  })
  return Object.fromEntries(shown) as KeyFieldsJson
}

export function fieldsFromJson(json: Partial<KeyFieldsJson>): Omit<KeyInput, 'name' | 'expiresAt'> {
  return Object.fromEntries(
    everyField.map(([name, field]) => {
      const value = json[name]
      return [
        field.column,
        value === null || value === undefined ? undefined : field.fromJson(value),
      ]
    }),
  )
}
