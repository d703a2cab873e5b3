import { fault } from './faults.ts'
import type { Step } from './faults.ts'

/** A JSON object whose members are unproven. */
export type JsonObject = Readonly<Record<string, unknown>>

const maxDepth = 16

/**
 * Reads bytes as one JSON object: strict UTF-8, no member named twice at any depth, bounded depth.
 * Two readers that disagree on a doubled member would disagree on who signs in (RFC 7519, section 4).
 */
export function parseObject(bytes: Uint8Array, step: Step): JsonObject {
  const text = decode(bytes, step)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault('json', step)
  }
  if (!isObject(value)) throw fault('json', step)
  refuseDoubledMembers(text, step)
  return value
}

/** Whether a value is a JSON object, not a list and not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a list of texts. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function decode(bytes: Uint8Array, step: Step): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fault('encoding', step)
  }
}

// The text is known to be valid JSON, so strings and brackets are all that must be told apart.
function refuseDoubledMembers(text: string, step: Step): void {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '{') open.push(new Set())
    else if (sign === '[') open.push(undefined)
    else if (sign === '}' || sign === ']') open.pop()
    else if (sign === '"') {
      const end = endOfString(text, at)
      if (isName(text, end)) {
        const name: unknown = JSON.parse(text.slice(at, end + 1))
        const names = open.at(-1)
        if (names?.has(String(name))) throw fault('json_duplicate', step)
        names?.add(String(name))
      }
      at = end
    }
    if (open.length > maxDepth) throw fault('json_depth', step)
  }
}

function isName(text: string, end: number): boolean {
  let at = end + 1
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at++
  return text[at] === ':'
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
