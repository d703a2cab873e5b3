import { decode, pathAmbiguity } from './path.ts'

/**
 * Returns a rule's path in the form in which rules are stored, shown and exported: decoded, except for the characters
 * that a rule cannot contain as they are. In this form `*` is a wildcard, and `%2A` is the character itself. A rule that
 * is parsed from it matches the same paths.
 *
 * Earlier versions stored paths fully decoded, so that a `%` may stand for itself; such paths are accepted too.
 */
export function writtenPath(path: string): string {
  const written = eachText(path, (text) => encode(decode(text)))
  return pathAmbiguity(written, 'verbatim') === undefined ? written : eachText(path, encode)
}

/**
 * Returns a rule's path as an upstream reads it that decodes twice, in the form of `writtenPath`. Stars stay as they
 * are: a decoded one is the character.
 */
export function decodedAgainPath(written: string): string {
  return eachText(written, (text) => encode(decode(decode(text))))
}

function eachText(path: string, change: (text: string) => string): string {
  return path.split('*').map(change).join('*')
}

function encode(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[#%*;?\\]/g, (character) => {
    const digits = character.charCodeAt(0).toString(16).toUpperCase()
    return `%${digits.padStart(2, '0')}`
  })
}
