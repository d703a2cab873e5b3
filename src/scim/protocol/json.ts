import { refuse, type ScimError } from './errors.ts'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json }

/** The shape of an object that came as JSON. */
export type JsonObject = { readonly [name: string]: Json }

const maxDepth = 32
const maxMembers = 1000

// Names that would reach an object's prototype somewhere behind us; no schema has them.
const refusedNames = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads the bytes of a body, more strictly than `JSON.parse`: valid UTF-8, no name twice in an object (in any case
 * of letters that is left to the schema), no prototype names, at most 32 levels, no U+0000 and no lone surrogates.
 */
export function readJson(bytes: Uint8Array): Json {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse('invalidSyntax', 'The body is not valid UTF-8.')
  }
  return parseJson(text)
}

/** The same for a text that has already been decoded. */
export function parseJson(text: string): Json {
  const reader = new Reader(text)
  const value = reader.value(0)
  reader.end()
  return value
}

/** Whether a value is an object and not a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Looks up a member of a message (not of a resource) by its name in any case (RFC 7643 section 2.1). */
export function memberOf(message: JsonObject, name: string): Json | undefined {
  const own = Object.keys(message).find((each) => each.toLowerCase() === name.toLowerCase())
  return own === undefined ? undefined : message[own]
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  value(depth: number): Json {
    if (depth > maxDepth) throw this.#wrong(`is nested deeper than ${maxDepth} levels`)
    this.#space()
    const char = this.#text[this.#at]
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === '"') return this.#string()
    return this.#literal()
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw this.#wrong('goes on after its end')
  }

  #object(depth: number): Json {
    this.#at++
    const members: Record<string, Json> = {}
    const names = new Set<string>()
    if (this.#takes('}')) return members
    do {
      this.#space()
      if (this.#text[this.#at] !== '"') throw this.#wrong('lacks a member name')
      const name = this.#string()
      if (refusedNames.has(name)) throw this.#wrong('has a member with a name that is not allowed')
      if (names.has(name)) throw this.#wrong('names a member twice')
      names.add(name)
      if (names.size > maxMembers) throw this.#wrong(`has more than ${maxMembers} members`)
      if (!this.#takes(':')) throw this.#wrong('lacks a colon')
      members[name] = this.value(depth + 1)
    } while (this.#takes(','))
    if (!this.#takes('}')) throw this.#wrong('has an object without end')
    return members
  }

  #array(depth: number): Json {
    this.#at++
    const items: Json[] = []
    if (this.#takes(']')) return items
    do items.push(this.value(depth + 1))
    while (this.#takes(','))
    if (!this.#takes(']')) throw this.#wrong('has a list without end')
    return items
  }

  #string(): string {
    const start = this.#at
    let end = start + 1
    let plain = true
    for (; ; end++) {
      const code = this.#text.charCodeAt(end)
      if (code === 0x22) break
      if (code < 0x20 || Number.isNaN(code)) throw this.#wrong('has a text without end')
      if (code === 0x5c) {
        plain = false
        end++
      }
    }
    this.#at = end + 1
    if (plain) return this.#checked(this.#text.slice(start + 1, end))
    try {
      return this.#checked(String(JSON.parse(this.#text.slice(start, end + 1))))
    } catch {
      throw this.#wrong('has a wrong escape')
    }
  }

  #checked(text: string): string {
    if (!text.isWellFormed() || text.includes('\u0000')) {
      throw this.#wrong('has a text with U+0000 or a lone surrogate')
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
      throw this.#wrong(`is wrong at character ${start + 1}`)
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

  #wrong(what: string): ScimError {
    return refuse('invalidSyntax', `The JSON ${what}.`)
  }
}
