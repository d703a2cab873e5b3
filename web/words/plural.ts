import { language } from './locale.ts'

const plural = new Intl.PluralRules(language)
const counter = new Intl.NumberFormat(language)

/** 12,480 */
export function count(number: number): string {
  return counter.format(number)
}

/** "1 filter is", "3 filters are": picks by number. */
export function many(number: number, one: string, other: string): string {
  return `${count(number)} ${plural.select(number) === 'one' ? one : other}`
}
