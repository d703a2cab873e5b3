/** How strictly a target reads paths; `verbatim` additionally allows `%2F` and empty segments, nothing else. */
export type PathMode = 'canonical' | 'verbatim'

/** Returns why a path is refused as ambiguous, as a clause; undefined if it is accepted. `path` has no query. */
export function pathAmbiguity(path: string, mode: PathMode): string | undefined {
  if (isPlain(path)) return undefined
  if (!path.startsWith('/')) return 'it does not begin with "/"'
  return characterFault(path) ?? escapeFault(path, mode) ?? dotFault(path) ?? emptyFault(path, mode)
}

/** The ways in which an upstream may read a path; rules are matched against these. */
export interface PathReadings {
  /**
   * The decoded path, with and without parameters after `;`, and each of these also with `//` as one slash. An allow
   * rule must match all of these readings.
   */
  readonly usual: readonly string[]
  /** The usual readings and rarer ones; a deny rule refuses if it matches any of them. */
  readonly possible: readonly string[]
}

/**
 * Returns the readings of a path that passed `pathAmbiguity`. The rarer readings omit trailing slashes, cut off
 * parameters before decoding, treat `%2F` as an ordinary character, decode twice (and then take `\` for `/`), or end
 * the path at a decoded `?`, `#` or NUL. Case is never changed.
 */
export function readingsOf(path: string): PathReadings {
  if (!/[%;]|\/\/|.\/$/.test(path)) return onlyReading(path)
  const usual = withoutParameters(new Set([decode(path)]))
  const possible = new Set(usual)
  if (path.includes('%')) {
    possible.add(decode(cutParameters(path)))
    possible.add(decode(path.replaceAll(/%2f/gi, '%252F')))
    for (const reading of [...possible]) {
      for (const again of decodedAgain(reading)) possible.add(again)
    }
    for (const reading of [...possible]) possible.add(reading.replace(/[?#\0].*$/s, ''))
    withoutParameters(possible)
  }
  for (const reading of possible) possible.add(withoutEndSlash(reading))
  return { usual: [...usual], possible: [...possible] }
}

/**
 * Returns the only reading of a path that is plain and has no slash at its end: the same as `readingsOf`, for a path
 * that no target refuses as ambiguous; undefined for any other path. Most paths are read with this one pass alone.
 */
export function plainReading(path: string): PathReadings | undefined {
  const endsWithSlash = path.length > 1 && path.charCodeAt(path.length - 1) === slash
  return !endsWithSlash && isPlain(path) ? onlyReading(path) : undefined
}

function onlyReading(path: string): PathReadings {
  const readings = [path]
  return { usual: readings, possible: readings }
}

/** Removes trailing slashes from a path, because many servers treat `/a/` as `/a`. */
export function withoutEndSlash(path: string): string {
  let end = path.length
  while (end > 1 && path.charCodeAt(end - 1) === slash) end--
  return path.slice(0, end)
}

function withoutParameters(readings: Set<string>): Set<string> {
  for (const reading of readings) readings.add(cutParameters(reading))
  for (const reading of readings) readings.add(reading.replaceAll(/\/{2,}/g, '/'))
  return readings
}

function cutParameters(path: string): string {
  return path.replaceAll(/;[^/]*/g, '')
}

/**
 * Decodes a reading a second time. Parameters, backslashes and empty segments that then appear may be removed before
 * dot segments are resolved or after that.
 */
function decodedAgain(reading: string): string[] {
  const again = decode(reading)
  if (again === reading) return [resolveDots(again)]
  const slashed = withoutParameters(new Set([again.replaceAll('\\', '/')]))
  return [again, ...slashed].map(resolveDots)
}

/** Resolves dot segments that appear only after a second decoding (RFC 3986, section 5.2.4). */
function resolveDots(path: string): string {
  if (!/\/\.\.?(?:\/|$)/.test(path)) return path
  const kept: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  }
  return `/${kept.join('/')}`
}

/** Percent-decodes bytes (RFC 3986, section 2.1) into one character per byte; invalid escapes stay. */
export function decode(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%([0-9a-fA-F]{2})/g, (_escape, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}

// Whether a path can obviously be read in one way only: it has only plain characters, no dot after a slash and no
// double slash. Nearly every path is decided by this one pass, which allocates nothing.
function isPlain(path: string): boolean {
  let previous = 0
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at)
    if (plainCodes[code] !== 1) return false
    if (previous === slash && (code === dot || code === slash)) return false
    previous = code
  }
  return path.charCodeAt(0) === slash
}

const slash = 0x2f
const dot = 0x2e
const plainCodes = new Uint8Array(65_536)
for (const letter of "/-._~!$&'()*+,=:@abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") {
  plainCodes[letter.charCodeAt(0)] = 1
}

function characterFault(path: string): string | undefined {
  if (/[^\x21-\x7e]/.test(path)) return 'it holds a control character or one outside ASCII'
  if (path.includes('\\')) return 'it holds a backslash'
  return path.includes('#') ? 'it holds a fragment' : undefined
}

function escapeFault(path: string, mode: PathMode): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(path)) return 'a "%" is not followed by two hexadecimal digits'
  if (/%(?:[01][0-9a-f]|7f)/i.test(path)) return 'it holds an encoded control character'
  if (/%5c/i.test(path)) return 'it holds an encoded backslash'
  if (mode === 'canonical' && /%2f/i.test(path)) return 'it holds an encoded slash'
  return undefined
}

// Returns a fault if a path contains a dot segment. This includes `..;x`, which servers that strip parameters first
// read as a parent directory, and dots encoded as `%2e`.
function dotFault(path: string): string | undefined {
  for (const segment of decode(path).split('/')) {
    const [name] = segment.split(';')
    if (name === '.' || name === '..') return 'it holds a dot segment'
  }
  return undefined
}

function emptyFault(path: string, mode: PathMode): string | undefined {
  if (mode === 'verbatim') return undefined
  // A segment that has only parameters (`/;a=1/`) is empty to a server that strips them.
  return /\/(?:\/|;)/.test(path) ? 'it holds an empty segment' : undefined
}
