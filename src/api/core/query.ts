import { Problem } from '../../errors.ts'
import type { TSchema } from '../../http/index.ts'

interface PropertyShape {
  readonly type?: string
  readonly items?: PropertyShape
  readonly properties?: Readonly<Record<string, PropertyShape>>
}

/**
 * Parses a query string by its schema, and refuses unknown parameters. Also refuses a duplicate of a parameter that
 * `repeated` does not name, because another parser might read the query differently.
 */
export function parseQuery(
  {
    query,
    repeated,
  }: { readonly query: TSchema | undefined; readonly repeated: readonly string[] },
  search: string,
): Record<string, unknown> {
  const { properties } = (query ?? {}) as PropertyShape
  const values: Record<string, unknown> = {}
  const lists = new Map<string, unknown[]>()
  for (const [name, text] of new URLSearchParams(search)) {
    const shape = properties && Object.hasOwn(properties, name) ? properties[name] : undefined
    if (shape === undefined) throw invalid(name, 'is not a parameter of this route')
    if (repeated.includes(name)) {
      const list = lists.get(name) ?? []
      list.push(valueOf(name, text, shape.items ?? {}))
      lists.set(name, list)
      values[name] = list
      continue
    }
    if (Object.hasOwn(values, name)) throw invalid(name, 'is given twice')
    values[name] = valueOf(name, text, shape)
  }
  return values
}

function valueOf(name: string, text: string, shape: PropertyShape): unknown {
  switch (shape.type) {
    case 'integer':
      if (!/^-?\d{1,15}$/.test(text)) throw invalid(name, 'is not a whole number')
      return Number(text)
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw invalid(name, 'is neither true nor false')
      return text === 'true'
    case 'array':
      return text.split(',').map((part) => valueOf(name, part, shape.items ?? {}))
    default:
      return text
  }
}

function invalid(name: string, what: string): Problem {
  const field = name.slice(0, 60)
  return new Problem('invalid_input', `The query parameter ${JSON.stringify(field)} ${what}.`, {
    members: { errors: [{ field, message: what }] },
  })
}
