import { parseJson } from '../protocol/json.ts'
import { refuse, type ScimType } from '../protocol/errors.ts'

/** A piece of a filter or path: a word (attribute path, operator, literal), a quoted string or a bracket. */
export type Token =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: '(' | ')' | '[' | ']' }

const maxLength = 2048

/** Splits a filter into tokens in one pass; refuses more than `characters` characters. */
export function tokenize(source: string, wrong: ScimType, characters = maxLength): Token[] {
  if (source.length > characters) {
    throw refuse(wrong, `It is longer than ${characters} characters.`)
  }
  const tokens: Token[] = []
  let at = 0
  while (at < source.length) {
    const char = source.charAt(at)
    if (char === ' ' || char === '\t') at++
    else if (char === '(' || char === ')' || char === '[' || char === ']') {
      tokens.push({ kind: char })
      at++
    } else if (char === '"') {
      const end = endOfText(source, at, wrong)
      tokens.push({ kind: 'text', value: readText(source.slice(at, end), wrong) })
      at = end
    } else {
      const end = endOfWord(source, at)
      if (end === at) throw refuse(wrong, `The character at ${at + 1} is not expected.`)
      tokens.push({ kind: 'word', text: source.slice(at, end) })
      at = end
    }
  }
  return tokens
}

function endOfText(source: string, start: number, wrong: ScimType): number {
  for (let at = start + 1; at < source.length; at++) {
    const char = source.charAt(at)
    if (char === '\\') at++
    else if (char === '"') return at + 1
  }
  throw refuse(wrong, 'A quoted text has no end.')
}

// Decodes a string, which has the syntax of a JSON string (RFC 7644 section 3.4.2.2).
function readText(quoted: string, wrong: ScimType): string {
  try {
    const text = parseJson(quoted)
    if (typeof text === 'string') return text
  } catch {
    // The text is refused below, because the JSON parser's message would not mention the filter.
  }
  throw refuse(wrong, 'A quoted text is not a valid JSON string.')
}

function endOfWord(source: string, start: number): number {
  let at = start
  while (at < source.length && isWordCode(source.charCodeAt(at))) at++
  return at
}

// Letters, digits and `$ % + - . : @ _` occur in attribute names, URNs, numbers, dates and unquoted addresses.
function isWordCode(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x3a) ||
    (code >= 0x40 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x24 ||
    code === 0x25 ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x5f
  )
}
