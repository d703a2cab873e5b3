import { Problem } from '../errors.ts'
import { isStorable } from '../storable.ts'

const maxNameLength = 100

/**
 * Normalizes a name: trimmed, without control characters, at most 100 characters. Throws `invalid_input` if nothing is
 * left.
 */
export function nameOf(text: string): string {
  const name = normalizedName(text)
  if (name === '') throw new Problem('invalid_input', 'A name has at least one character.')
  return name
}

/** Normalizes a name that a provider sent; undefined if nothing of it is left. */
export function nameFrom(text: string | undefined): string | undefined {
  const name = normalizedName(text ?? '')
  return name === '' ? undefined : name
}

function normalizedName(text: string): string {
  const name = text
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, ' ')
    .trim()
  // Counts code points, as the API does; a cut through a surrogate pair would leave half of it.
  return Array.from(name).slice(0, maxNameLength).join('').trimEnd()
}

const emailShape = /^[^\s@\u0000-\u001F<>(),;:"[\]\\]+@[^\s@\u0000-\u001F<>(),;:"[\]\\]+$/
const maxEmailLength = 254

/** Validates and normalizes an e-mail address; throws `invalid_input`. */
export function emailOf(text: string): string {
  const email = emailFrom(text)
  if (email === undefined) throw new Problem('invalid_input', 'This is not an e-mail address.')
  return email
}

/** Normalizes an e-mail address that a provider sent; undefined if it is none. */
export function emailFrom(text: string | undefined): string | undefined {
  const email = text?.trim().normalize('NFC')
  if (email === undefined || email.length > maxEmailLength) return undefined
  return isStorable(email) && emailShape.test(email) ? email : undefined
}
