import { everyField, type KeyInput } from '../../src/access/index.ts'

/** A value for each field in `keyFields`, parsed from the examples that the field itself gives. */
export const exampleFields: Partial<KeyInput> = Object.fromEntries(
  everyField.map(([, { column, flag }]) => [
    column,
    flag.takes === 'one' ? flag.parse(flag.examples[0] ?? '') : flag.parse(flag.examples),
  ]),
)
