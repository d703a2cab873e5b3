/** Converts the names of a setting's members to snake_case, as in configuration files. */
export function snakeCasedMembers(value: unknown): unknown {
  return renamed(value, (name) => name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`))
}

/** Converts the names of a setting's members to camelCase, as in the domain. */
export function camelCased(value: unknown): unknown {
  return renamed(value, (name) =>
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
  )
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [rename(name), inner]),
  )
}
