import { decode } from './path.ts'

/**
 * Compiles the path of a rule (as `writtenPath` returns it). The returned function takes time linear in the lengths of
 * path and pattern, because members write the patterns and everybody's calls wait while one is matched. If the last
 * segment ends with a star, that star also matches everything below. With `isWide`, the other stars of that segment then
 * match across slashes too.
 */
export function compilePattern(pattern: string, isWide: boolean): (path: string) => boolean {
  if (pattern === '*' || pattern === '/*') return () => true
  const star = pattern.indexOf('*')
  // An encoded star is no wildcard, so nothing is decoded before the pattern is taken apart at its stars.
  const text = decode(star === -1 ? pattern : pattern.slice(0, star))
  if (star === -1) return (path) => path === text
  if (star === pattern.length - 1) {
    if (!text.endsWith('/')) return (path) => path.startsWith(text)
    const below = text.slice(0, -1)
    return (path) => path === below || path.startsWith(text)
  }
  const segments = pattern.split('/').map((segment) => new Segment(segment))
  return (path) => matchesSegments(segments, path, isWide)
}

function matchesSegments(segments: readonly Segment[], path: string, isWide: boolean): boolean {
  let from = 0
  for (const [at, segment] of segments.entries()) {
    const isOpenEnd = at === segments.length - 1 && segment.endsWithStar
    // `/a/*` also matches `/a` itself.
    if (isOpenEnd && segment.isStar) return true
    if (from > path.length) return false
    const slash = isOpenEnd && isWide ? -1 : path.indexOf('/', from)
    const end = slash === -1 ? path.length : slash
    if (!segment.matches(path, from, end)) return false
    if (isOpenEnd) return true
    from = end + 1
  }
  return from > path.length
}

/** The part of a pattern between two slashes; each star in it stands for any characters. */
class Segment {
  readonly isStar: boolean
  readonly endsWithStar: boolean
  readonly #first: string
  readonly #middle: readonly Search[]
  /** The text after the last star; undefined without a star. */
  readonly #last: string | undefined

  constructor(segment: string) {
    const [first = '', ...others] = segment.split('*').map(decode)
    this.isStar = segment === '*'
    this.endsWithStar = segment.endsWith('*')
    this.#first = first
    this.#last = others.pop()
    this.#middle = others.filter((text) => text !== '').map((text) => new Search(text))
  }

  /** Whether the characters of a path between two offsets match this part. */
  matches(path: string, from: number, end: number): boolean {
    const last = this.#last ?? ''
    let at = from + this.#first.length
    const until = end - last.length
    if (at > until || !path.startsWith(this.#first, from)) return false
    if (this.#last === undefined) return at === end
    if (!path.startsWith(last, until)) return false
    // The earliest occurrence of each text leaves the most room for the next.
    for (const search of this.#middle) {
      at = search.endIn(path, at, until)
      if (at === -1) return false
    }
    return true
  }
}

/** Finds a text in a single pass, which reads no character of the path twice (Knuth, Morris and Pratt). */
class Search {
  readonly #text: string
  /** For each number of matched characters: how many are still matched if the next character of the path differs. */
  readonly #fallbacks: Uint16Array

  constructor(text: string) {
    this.#text = text
    this.#fallbacks = new Uint16Array(text.length + 1)
    for (let length = 2; length <= text.length; length++) {
      const before = this.#fallbacks[length - 1] ?? 0
      this.#fallbacks[length] = this.#matchedAfter(before, text.charCodeAt(length - 1))
    }
  }

  /** Returns the end of the text's first occurrence between two offsets; -1 if there is none. */
  endIn(path: string, from: number, until: number): number {
    let matched = 0
    for (let at = from; at < until; at++) {
      matched = this.#matchedAfter(matched, path.charCodeAt(at))
      if (matched === this.#text.length) return at + 1
    }
    return -1
  }

  #matchedAfter(before: number, code: number): number {
    let matched = before
    while (matched > 0 && this.#text.charCodeAt(matched) !== code) {
      matched = this.#fallbacks[matched] ?? 0
    }
    return this.#text.charCodeAt(matched) === code ? matched + 1 : 0
  }
}
