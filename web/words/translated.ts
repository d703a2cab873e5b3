/** The type of a translation: the same names, other texts, and functions with the same parameters. */
export type Translated<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends object
      ? { readonly [Name in keyof T]: Translated<T[Name]> }
      : T
