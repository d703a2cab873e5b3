const keptCharacters = 4096
const secretNames = /^(password|secret|token|credential|authorization)$/i

/** A body as the request log keeps it: cut, and with every value under a secret's name dropped. */
export function withoutSecrets(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    const text = JSON.stringify(JSON.parse(bytes.toString('utf8')), (name, value: unknown) =>
      secretNames.test(name) || isSecretOperation(value) ? '(dropped)' : value,
    )
    return text.slice(0, keptCharacters).toWellFormed().replaceAll('\u0000', '')
  } catch {
    return '(not JSON)'
  }
}

// {"op": "replace", "path": "password", "value": "…"}
function isSecretOperation(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const path = Object.entries(value).find(([name]) => name.toLowerCase() === 'path')?.[1] as unknown
  return typeof path === 'string' && /password/i.test(path)
}
