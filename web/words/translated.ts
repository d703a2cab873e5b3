/** What a translation of some words must have: the same names, texts of its own, functions of the same values. */
export type Translated<T> = T extends string
  ? string
  : T extends (...given: infer Given) => string
    ? (...given: Given) => string
    : T extends object
      ? { readonly [Name in keyof T]: Translated<T[Name]> }
      : T
