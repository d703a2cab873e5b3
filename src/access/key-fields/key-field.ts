import type { KeyEdit } from '../../store/index.ts'

/** The columns of a key that are described as fields: every editable one except the name and the expiry. */
export type FieldColumn = Exclude<keyof KeyEdit, 'name' | 'expiresAt'>

/** One field of a key, described for everything that reads, shows or changes it. */
export interface KeyField<Column extends FieldColumn, Json> {
  readonly column: Column
  /** The JSON Schema of a value. The API also accepts null, which means that no value is set. */
  readonly schema: Readonly<Record<string, unknown>>
  toJson(value: Value<Column>): Json
  /** May return undefined, which means that no value is set. */
  fromJson(json: Json): KeyEdit[Column]
  /** Throws `invalid_input` for values that make no sense. */
  check?(value: Value<Column>): void
  /** The field's line in `key show`. */
  readonly shown: KeyFieldLine<Value<Column>>
  readonly flag: KeyFieldFlag & (OneValue<Value<Column>> | ManyValues<Value<Column>>)
}

type Value<Column extends FieldColumn> = NonNullable<KeyEdit[Column]>

interface KeyFieldLine<Of> {
  readonly label: string
  readonly none: string
  text(value: Of): string
}

/** The flag with which `key issue` and `key edit` set a field. */
interface KeyFieldFlag {
  readonly name: string
  /** The placeholder for the flag's value in the list of flags. */
  readonly value: string
  /** The placeholder for the flag's value in the usage line. */
  readonly sample: string
  /** Valid values, for tests. */
  readonly examples: readonly string[]
  readonly about: string
  readonly aboutEdit: string
}

/** A flag with one value; the word `none` clears the field. */
interface OneValue<Of> {
  readonly takes: 'one'
  parse(text: string): Of
}

/** A flag that may be given more than once; the separate switch `clear` clears the field. */
interface ManyValues<Of> {
  readonly takes: 'many'
  readonly clear: { readonly flag: string; readonly about: string }
  parse(texts: readonly string[]): Of
}

/** Passing a description through this function lets TypeScript infer the types of the field's value and JSON. */
export function field<Column extends FieldColumn, Json>(
  described: KeyField<Column, Json>,
): KeyField<Column, Json> {
  return described
}
