import { decode, pathAmbiguity } from './path.ts'

/**
 * Returns the only form in which a rule's path is stored, shown and exported: everything is decoded but what a rule
 * cannot hold as it is. A rule that is read from this form matches the same paths; `*` is a star, `%2A` is the
 * character.
 *
 * It also reads the paths that were stored decoded, where `%` may stand for itself.
 */
export function writtenPath(path: string): string {
  const written = eachText(path, (text) => encode(decode(text)))
  return pathAmbiguity(written, 'verbatim') === undefined ? written : eachText(path, encode)
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
