import { anyPrefix } from '../../credential-formats.ts'

const keptCharacters = 4096
const keptOfPath = 1000
const maxUnreadBytes = 64 * 1024
const secretNames = /^(password|secret|token|credential|authorization)$/i
// Matches a query parameter's value that contains a misplaced token or mentions a password, as a filter may.
const secretText = new RegExp(`password|${anyPrefix}`, 'i')
const secretParameters = /^(token|access_token|authorization|password|secret)$/i

/** Renders a body as the request log stores it: truncated, and without the values of secret attributes. */
export function withoutSecrets(body: unknown): string {
  const parts: string[] = []
  write({ parts, left: keptCharacters }, body)
  return parts.join('').slice(0, keptCharacters)
}

/**
 * Like `withoutSecrets`, for the bytes of a body that was not parsed. Returns undefined if there was no body, and a
 * remark in parentheses if the body is too long or not JSON.
 */
export function unreadWithoutSecrets(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined
  if (bytes.length > maxUnreadBytes) return '(too long to be shown)'
  try {
    return withoutSecrets(JSON.parse(bytes.toString('utf8')))
  } catch {
    return '(not JSON)'
  }
}

/** The text written so far, and how many more characters are kept. */
interface Written {
  readonly parts: string[]
  left: number
}

function put(written: Written, text: string): void {
  written.parts.push(text)
  written.left -= text.length
}

function write(written: Written, value: unknown): void {
  if (written.left <= 0) return
  if (typeof value === 'string') return put(written, JSON.stringify(value.slice(0, written.left)))
  if (typeof value !== 'object' || value === null) return put(written, JSON.stringify(value))
  const isList = Array.isArray(value)
  put(written, isList ? '[' : '{')
  let mark = ''
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    if (written.left <= 0) return
    put(written, isList ? mark : `${mark}${JSON.stringify(name)}:`)
    mark = ','
    const isSecret = isSecretName(String(name)) || isSecretOperation(member)
    write(written, isSecret ? '(dropped)' : member)
  }
  put(written, isList ? ']' : '}')
}

/** Renders a path and its query as the request log stores them: truncated, and without possible secrets. */
export function pathWithoutSecrets(path: string): string {
  const mark = path.indexOf('?')
  if (mark === -1) return path.slice(0, keptOfPath)
  const query = [...new URLSearchParams(path.slice(mark + 1))].map(([name, value]) => {
    const isSecret = secretParameters.test(name) || secretText.test(value)
    return `${name}=${isSecret ? '(dropped)' : value}`
  })
  return `${path.slice(0, mark)}?${query.join('&')}`.slice(0, keptOfPath)
}

// Matches `password` and `urn:…:User:password`, because Entra uses whole paths as names.
function isSecretName(name: string): boolean {
  return secretNames.test(name.split(/[:.]/).at(-1) ?? '')
}

// Whether a value is a PATCH operation on a password: `{"op": "replace", "path": "password", "value": "…"}`.
function isSecretOperation(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const path = Object.entries(value).find(([name]) => name.toLowerCase() === 'path')?.[1] as unknown
  return typeof path === 'string' && /password/i.test(path)
}
