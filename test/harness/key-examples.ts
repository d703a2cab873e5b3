import { everyField, type KeyInput } from '../../src/access/index.ts'

/** A value for each field that people can set on a key, taken from the examples in the field's description. */
export const exampleFields: Partial<KeyInput> = Object.fromEntries(
  everyField.map(([, { column, flag }]) => [
    column,
    flag.takes === 'one' ? flag.parse(flag.examples[0] ?? '') : flag.parse(flag.examples),
  ]),
)
