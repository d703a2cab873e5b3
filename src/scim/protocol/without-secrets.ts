import { anyPrefix } from '../../credential-formats.ts'

const keptCharacters = 4096
const keptOfPath = 1000
const secretNames = /^(password|secret|token|credential|authorization)$/i
// Matches a query parameter's value that contains a misplaced token or mentions a password, as a filter may.
const secretText = new RegExp(`password|${anyPrefix}`, 'i')
const secretParameters = /^(token|access_token|authorization|password|secret)$/i

/** A body as the request log stores it: truncated, and without the values of secret attributes. */
export function withoutSecrets(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    const text = JSON.stringify(JSON.parse(bytes.toString('utf8')), (name, value: unknown) =>
      isSecretName(name) || isSecretOperation(value) ? '(dropped)' : value,
    )
    return text.slice(0, keptCharacters)
  } catch {
    return '(not JSON)'
  }
}

/** A path with its query as the request log stores it: truncated, and without possible secrets. */
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
