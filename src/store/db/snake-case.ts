/**
 * Copies a JSON value and converts its camelCase names to snake_case, the casing of public JSON. Names of another form,
 * such as `X-Request-Id`, stay as they are.
 */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [snakeName(name), snakeCased(inner)]),
  )
}

/** Converts a camelCase name to snake_case; any other name is returned unchanged. */
export function snakeName(name: string): string {
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
