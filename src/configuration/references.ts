import { Problem } from '../errors.ts'

/** Where a secret is: `env:NAME` or `file:PATH`. */
export type ResolveReference = (reference: string) => string

/** Refuses what is no reference: a secret itself never stands in a file. */
export function checkReference(text: string, where: string): string {
  if (/^(?:env:[A-Za-z_][A-Za-z0-9_]{0,127}|file:.{1,1000})$/.test(text)) return text
  throw new Problem(
    'invalid_input',
    `${where} must be env:NAME or file:PATH, never the secret itself.`,
  )
}
