import { Problem } from '../errors.ts'

const maxNameLength = 100

/** Normalizes a name: trimmed, without control characters, at most 100 characters. */
export function nameOf(text: string): string {
  const name = text
    .normalize('NFC')
    .replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]/g, ' ')
    .trim()
  if (name === '') throw new Problem('invalid_input', 'A name has at least one character.')
  return name.slice(0, maxNameLength)
}

const emailShape = /^[^\s@\u0000-\u001F<>(),;:"[\]\\]+@[^\s@\u0000-\u001F<>(),;:"[\]\\]+$/
const maxEmailLength = 254

/** Validates and normalizes an e-mail address; throws `invalid_input`. */
export function emailOf(text: string): string {
  const email = text.trim().normalize('NFC')
  if (email.length > maxEmailLength || !emailShape.test(email)) {
    throw new Problem('invalid_input', 'This is not an e-mail address.')
  }
  return email
}
