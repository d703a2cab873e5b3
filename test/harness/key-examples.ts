import { everyField, type KeyInput } from '../../src/access/index.ts'

/** A value for each of a key's fields in `everyField`, parsed from the examples that the field's `flag` gives. */
export const exampleFields: Partial<KeyInput> = Object.fromEntries(
  everyField.map(([, { column, flag }]) => [
    column,
    flag.takes === 'one' ? flag.parse(flag.examples[0] ?? '') : flag.parse(flag.examples),
  ]),
)
