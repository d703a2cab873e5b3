import { isStorable } from './storable.ts'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json }

export interface JsonRules {
  readonly maxDepth: number
  /** The maximum number of members of one object. */
  readonly maxMembers: number
  /** The maximum number of values of any type in the whole document, including nested ones. */
  readonly maxValues?: number
  readonly refusedNames?: ReadonlySet<string>
  /** Whether strings may contain U+0000 and lone surrogates, which the caller must then check. */
  readonly allowsAnyText?: boolean
}

/** Thrown when JSON is refused; the message completes a sentence that begins with "The JSON". */
export class JsonFault extends Error {
  readonly reason: 'encoding' | 'syntax' | 'duplicate' | 'depth' | 'size'

  constructor(reason: JsonFault['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * Parses JSON strictly; throws a `JsonFault` for what it refuses. A repeated member is refused, because two parsers
 * could read it differently and so disagree on who signs in or is provisioned.
 */
export function readStrictJson(source: Uint8Array | string, rules: JsonRules): Json {
  const reader = new Reader(typeof source === 'string' ? source : decode(source), rules)
  const value = reader.value(0)
  reader.end()
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new JsonFault('encoding', 'is not valid UTF-8')
  }
}

class Reader {
  readonly #text: string
  readonly #rules: JsonRules
  #at = 0
  #values = 0

  constructor(text: string, rules: JsonRules) {
    this.#text = text
    this.#rules = rules
  }

  value(depth: number): Json {
    const { maxDepth, maxValues = Infinity } = this.#rules
    if (depth > maxDepth) throw new JsonFault('depth', `is nested deeper than ${maxDepth} levels`)
    if (++this.#values > maxValues)
      throw new JsonFault('size', `holds more than ${maxValues} values`)
    this.#space()
    const char = this.#text[this.#at]
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === '"') return this.#string()
    return this.#literal()
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw wrong('goes on after its end')
  }

  #object(depth: number): Json {
    this.#at++
    const members = new Map<string, Json>()
    const { maxMembers, refusedNames } = this.#rules
    if (this.#takes('}')) return {}
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw wrong('lacks a member name')
      const name = this.#string()
      if (refusedNames?.has(name)) throw wrong('has a member with a name that is not allowed')
      if (members.has(name)) throw new JsonFault('duplicate', 'names a member twice')
      if (members.size >= maxMembers) throw wrong(`has more than ${maxMembers} members`)
      if (!this.#takes(':')) throw wrong('lacks a colon')
      members.set(name, this.value(depth + 1))
    } while (this.#takes(','))
    if (!this.#takes('}')) throw wrong('has an object without end')
    // Defines every member as an own property, even `__proto__`.
    return Object.fromEntries(members)
  }

  #array(depth: number): Json {
    this.#at++
    const items: Json[] = []
    if (this.#takes(']')) return items
    do items.push(this.value(depth + 1))
    while (this.#takes(','))
    if (!this.#takes(']')) throw wrong('has a list without end')
    return items
  }

  #string(): string {
    const start = this.#at
    let end = start + 1
    let plain = true
    for (; ; end++) {
      const code = this.#text.charCodeAt(end)
      if (code === 0x22) break
      if (code < 0x20 || Number.isNaN(code)) throw wrong('has a text without end')
      if (code === 0x5c) {
        plain = false
        end++
      }
    }
    this.#at = end + 1
    if (plain) return this.#checked(this.#text.slice(start + 1, end))
    return this.#checked(unescaped(this.#text.slice(start, end + 1)))
  }

  #checked(text: string): string {
    if (this.#rules.allowsAnyText !== true && !isStorable(text)) {
      throw wrong('has a text with U+0000 or a lone surrogate')
    }
    return text
  }

  #literal(): Json {
    const start = this.#at
    while (/[-+.0-9A-Za-z]/.test(this.#text[this.#at] ?? '')) this.#at++
    const word = this.#text.slice(start, this.#at)
    if (word === 'true') return true
    if (word === 'false') return false
    if (word === 'null') return null
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(word)) {
      throw wrong(`is wrong at character ${start + 1}`)
    }
    return Number(word)
  }

  #takes(char: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #space(): void {
    for (; ; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }
}

/** Resolves the escapes of a string that is given with its quotation marks. */
function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    throw wrong('has a wrong escape')
  }
}

function wrong(what: string): JsonFault {
  return new JsonFault('syntax', what)
}
/**
 * Renders a value as JSON in ASCII, so that its length is its length in bytes and readers need not guess an encoding.
 */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Whether a text is the same in ASCII JSON as it is, apart from the quotes around it. Most texts are. */
export function isPlainInJson(text: string): boolean {
  return !/[^\x20\x21\x23-\x5b\x5d-\x7e]/.test(text)
}

/** Renders a text like `asciiJson`; a plain one costs only a test. */
export function asciiJsonText(text: string): string {
  return isPlainInJson(text) ? `"${text}"` : asciiJson(text)
}
