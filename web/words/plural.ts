import { language } from './locale.ts'

const plural = new Intl.PluralRules(language)
const counter = new Intl.NumberFormat(language)

/** Formats a number with separators: 12,480. */
export function count(number: number): string {
  return counter.format(number)
}

/** Returns the number with its singular or plural: "1 filter is", "3 filters are". */
export function many(number: number, one: string, other: string): string {
  return `${count(number)} ${plural.select(number) === 'one' ? one : other}`
}
