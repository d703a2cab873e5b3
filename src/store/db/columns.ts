import { toStorable } from '../../storable.ts'
import { snakeCased, snakeName } from './snake-case.ts'

/** Converts a column's value between the database, a record and public JSON. */
export interface Column<Value = unknown, Kept = unknown, Shown = unknown> {
  read(kept: Kept): Value
  write(value: Value): Kept
  /** Returns the value as shown in public JSON: times as ISO 8601, names in snake_case. */
  show(value: Value): Shown
  /** The JSON Schema of what `show` returns. */
  readonly schema: Readonly<Record<string, unknown>>
}

type Declared = Readonly<Record<string, Column>>

type ValueOf<C> = C extends { read(kept: never): infer Value } ? Value : never
type KeptOf<C> = C extends { write(value: never): infer Kept } ? Kept : never
type ShownOf<C> = C extends { show(value: never): infer Shown } ? Shown : never

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? Rest extends Uncapitalize<Rest>
    ? `${Lowercase<First>}${Snake<Rest>}`
    : `${Lowercase<First>}_${Snake<Rest>}`
  : Name

/** A table's record, in camelCase; a database null becomes undefined. */
export type RecordOf<C extends Declared> = { readonly [Name in keyof C]: ValueOf<C[Name]> }

/** A table's row, in snake_case. */
export type TableOf<C extends Declared> = {
  [Name in keyof C & string as Snake<Name>]: KeptOf<C[Name]>
}

/** What public JSON shows of a record, in snake_case. */
export type JsonOf<C extends Declared> = {
  [Name in keyof C & string as Snake<Name>]: ShownOf<C[Name]>
}

/** A text column; reading checks nothing, because values were validated before they were written. */
export function text<Text extends string = string>(): Column<Text, string, string> {
  return {
    read: (kept) => kept as Text,
    write: (value) => value,
    show: (value) => value,
    schema: { type: 'string' },
  }
}

/** Text from outside, kept for logs: writing replaces the characters that a database cannot store. */
export function loggedText(): Column<string, string, string> {
  return { ...text(), write: toStorable }
}

export function number(): Column<number, number, number> {
  return {
    read: (kept) => kept,
    write: (value) => value,
    show: (value) => value,
    schema: { type: 'integer' },
  }
}

/** A boolean, stored as 1 or 0. */
export function flag(): Column<boolean, number, boolean> {
  return {
    read: (kept) => kept === 1,
    write: (value) => (value ? 1 : 0),
    show: (value) => value,
    schema: { type: 'boolean' },
  }
}

/** A time in milliseconds since 1970; public JSON shows it as ISO 8601. */
export function time(): Column<number, number, string> {
  return {
    ...number(),
    show: (value) => new Date(value).toISOString(),
    schema: { type: 'string', format: 'date-time' },
  }
}

/** A column stored as JSON; reading checks nothing, because values were validated before they were written. */
export function json<Value>(): Column<Value, string> {
  return {
    read: (kept) => JSON.parse(kept) as Value,
    write: (value) => JSON.stringify(value),
    show: (value) => snakeCased(value),
    schema: {},
  }
}

/** A nullable column; null becomes undefined in a record. */
export function maybe<Value, Kept, Shown>(
  column: Column<Value, Kept, Shown>,
): Column<Value | undefined, Kept | null, Shown | null> {
  return {
    read: (kept) => (kept === null ? undefined : column.read(kept)),
    write: (value) => (value === undefined ? null : column.write(value)),
    show: (value) => (value === undefined ? null : column.show(value)),
    schema: { anyOf: [column.schema, { type: 'null' }] },
  }
}

/** When, from where and by which user agent a credential was last used. */
export const lastUse = {
  lastUsedAt: maybe(time()),
  lastUsedAddress: maybe(text()),
  lastUsedAgent: maybe(text()),
}

/** Declares a table's columns. Hidden columns can be written by name but appear in no record. */
export function columns<C extends Declared, H extends Declared>(declared: C, hidden: H) {
  const listOf = (some: Declared) =>
    Object.entries(some).map(([name, column]) => ({ name, column, inRow: snakeName(name) }))
  const shown = listOf(declared)
  const all = [...shown, ...listOf(hidden)]

  function written(values: object, write: (column: Column, value: unknown) => unknown): object {
    const given = values as Readonly<Record<string, unknown>>
    return Object.fromEntries(
      all
        .filter(({ name }) => Object.hasOwn(given, name))
        .map(({ name, column, inRow }) => [inRow, write(column, given[name])]),
    )
  }

  return {
    fromRow: (row: TableOf<C>): RecordOf<C> => {
      const kept = row as Readonly<Record<string, unknown>>
      const values = shown.map(({ name, column, inRow }) => [name, column.read(kept[inRow])])
      return Object.fromEntries(values) as RecordOf<C>
    },
    /** Converts the given values into columns; undefined becomes null. */
    toRow: <Name extends keyof (C & H) & string>(
      values: Pick<RecordOf<C & H>, Name>,
    ): { [Each in Name as Snake<Each>]: KeptOf<(C & H)[Each]> } => {
      return written(values, (column, value) => column.write(value)) as never
    },
    /** Converts values of a record into public JSON, for example for the audit log. */
    toJson: <Name extends keyof C & string>(
      values: Pick<RecordOf<C>, Name>,
    ): Record<string, unknown> => {
      return { ...written(values, (column, value) => column.show(value)) }
    },
  }
}
