import { unescape } from 'node:querystring'
import { redact } from '../telemetry/index.ts'

/** How deep to look into JSON and forms that are nested in JSON strings and form fields. */
const maxDepth = 4

/**
 * Masks the values of the named members and fields in a captured body, and Intercept's own credentials anywhere in it.
 * The text may be truncated anywhere and may be JSON, lines of JSON, a form or multipart. Because the declared type is
 * not trusted, the text is masked as each of these in turn.
 */
export function redactBody(text: string, names: readonly string[]): string {
  if (names.length === 0) return redact(text)
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  const members = withoutLiteralMembers(withoutMembers(text, wanted, 0), names)
  return redact(withoutParts(withoutFields(members, wanted, 0), wanted))
}

/**
 * Masks the values of the wanted JSON members: strings, numbers, or entire arrays and objects, however the names are
 * escaped.
 */
function withoutMembers(text: string, wanted: ReadonlySet<string>, depth: number): string {
  let result = ''
  let copied = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfString(text, at)
    const valueAt = afterColon(text, end)
    if (valueAt === undefined) {
      const inner = innerText(text.slice(at, end), wanted, depth)
      if (inner !== undefined) {
        result += text.slice(copied, at) + inner
        copied = end
      }
      at = end
      continue
    }
    if (!wanted.has(unescaped(text.slice(at, end)).toLowerCase())) {
      at = valueAt
      continue
    }
    result += `${text.slice(copied, valueAt)}"…"`
    at = endOfValue(text, valueAt)
    copied = at
  }
  return result + text.slice(copied)
}

/**
 * Masks members whose names appear literally. After a stray quote, `withoutMembers` misjudges where strings begin and
 * can miss such members.
 */
function withoutLiteralMembers(text: string, names: readonly string[]): string {
  const name = new RegExp(String.raw`"(?:${alternatives(names)})"\s*:\s*`, 'gi')
  let result = ''
  let copied = 0
  for (let found = name.exec(text); found !== null; found = name.exec(text)) {
    result += `${text.slice(copied, name.lastIndex)}"…"`
    copied = endOfValue(text, name.lastIndex)
    name.lastIndex = copied
  }
  return result + text.slice(copied)
}

function alternatives(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('.', String.raw`\.`)).join('|')
}

/**
 * Returns the offset after the closing quote of the string that starts at `start`; the end of the text if the string
 * was truncated.
 */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const letter = text.charCodeAt(at)
    if (letter === backslash) at++
    else if (letter === quote) return at + 1
  }
  return text.length
}

const backslash = 0x5c
const quote = 0x22

/** Returns the offset of the value if a colon follows; otherwise undefined. */
function afterColon(text: string, end: number): number | undefined {
  const at = afterBlanks(text, end)
  return text.charAt(at) === ':' ? afterBlanks(text, at + 1) : undefined
}

function afterBlanks(text: string, start: number): number {
  let at = start
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++
  return at
}

function endOfValue(text: string, start: number): number {
  const first = text.charAt(start)
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    const found = text.slice(start).search(/[\s,}\]]/)
    return found === -1 ? text.length : start + found
  }
  let open = 0
  for (let at = start; at < text.length; at++) {
    const letter = text.charAt(at)
    if (letter === '"') at = endOfString(text, at) - 1
    else if (letter === '{' || letter === '[') open++
    else if ((letter === '}' || letter === ']') && --open === 0) return at + 1
  }
  return text.length
}

/** Masks a string that itself contains JSON or a form; undefined if it is nested too deeply or has nothing to mask. */
function innerText(raw: string, wanted: ReadonlySet<string>, depth: number): string | undefined {
  if (depth >= maxDepth || !/\\|=/.test(raw)) return undefined
  const inner = unescaped(raw)
  const cleaned = withoutFields(withoutMembers(inner, wanted, depth + 1), wanted, depth + 1)
  return cleaned === inner ? undefined : JSON.stringify(cleaned)
}

/** Unescapes a JSON string, even one that was truncated or is malformed. */
function unescaped(raw: string): string {
  const whole = raw.length > 1 && raw.endsWith('"') ? raw : `${raw.replace(/\\(?:u.{0,3})?$/, '')}"`
  try {
    return JSON.parse(whole) as string
  } catch {
    return raw.slice(1).replace(/"$/, '').replaceAll(/\\(.)/g, '$1')
  }
}

/**
 * Masks form fields, including `a[name]` and escaped names. The whole text may be a form, or it may contain forms and
 * URLs.
 */
function withoutFields(text: string, wanted: ReadonlySet<string>, depth: number): string {
  if (!beginsWithField.test(text)) return withoutInnerFields(text, wanted)
  // Not every client escapes blanks and quotes, so only the next `&` ends a field.
  const fields = text.split('&').map((field) => maskedField(field, wanted, depth))
  return fields.join('&')
}

const beginsWithField = /^\s*[^=\s"<{]{1,256}=/

function maskedField(field: string, wanted: ReadonlySet<string>, depth: number): string {
  const [name = ''] = field.split('=', 1)
  if (name.length === field.length) return field
  if (isWanted(name.trim(), wanted)) return `${name}=…`
  const value = field.slice(name.length + 1)
  const inner = depth < maxDepth && /%(?:22|3d)/i.test(value) ? unescape(plused(value)) : undefined
  if (inner === undefined) return withoutInnerFields(field, wanted)
  const cleaned = withoutFields(withoutMembers(inner, wanted, depth + 1), wanted, depth + 1)
  return cleaned === inner ? field : `${name}=${encodeURIComponent(cleaned.toWellFormed())}`
}

function withoutInnerFields(text: string, wanted: ReadonlySet<string>): string {
  return text.replaceAll(
    /(^|[&?;\s"])([^&=\s"]{1,256})=([^&\s"]*)/g,
    (all, before: string, name: string) => (isWanted(name, wanted) ? `${before}${name}=…` : all),
  )
}

/** Whether a field's name, or a part of it as in `user[password]`, is a wanted one. */
function isWanted(name: string, wanted: ReadonlySet<string>): boolean {
  const plain = unescape(plused(name)).toLowerCase()
  return wanted.has(plain) || plain.split(/[[\].]+/).some((part) => wanted.has(part))
}

function plused(text: string): string {
  return text.replaceAll('+', ' ')
}

/** Masks fields of multipart/form-data (RFC 7578). */
function withoutParts(text: string, wanted: ReadonlySet<string>): string {
  const named = /\bname=(?:"([^"\r\n]{1,256})"|([^";\s]{1,256}))(?=[;\r\n])/gi
  const headEnd = /\r?\n\r?\n/g
  // Only the boundary ends a part: a value may well have lines that begin with `--`, such as those of a key in PEM
  // form.
  const boundary = /^--[^\r\n]{1,100}/m.exec(text)?.[0]
  let result = ''
  let copied = 0
  // Each search continues where the previous one ended, so the time grows only linearly with the body.
  for (let found = named.exec(text); found !== null; found = named.exec(text)) {
    if (!isWanted(found[1] ?? found[2] ?? '', wanted)) continue
    headEnd.lastIndex = named.lastIndex
    if (headEnd.exec(text) === null) break
    const valueAt = headEnd.lastIndex
    const next = boundary === undefined ? -1 : text.indexOf(`\n${boundary}`, valueAt)
    const end = next === -1 ? text.length : next - (text.charAt(next - 1) === '\r' ? 1 : 0)
    result += `${text.slice(copied, valueAt)}…`
    copied = Math.max(end, valueAt)
    named.lastIndex = copied
  }
  return result + text.slice(copied)
}
