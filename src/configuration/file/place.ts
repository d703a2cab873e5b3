import { Problem } from '../../errors.ts'
import type { FileNode } from './parse.ts'

/** The part of JSON Schema that the file's schema uses. */
interface Schema {
  readonly type?: string
  readonly const?: number
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | false
  readonly propertyNames?: { readonly pattern: string; readonly description?: string }
  readonly maxProperties?: number
  readonly items?: Schema
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly patternErrorMessage?: string
  readonly minimum?: number
  readonly maximum?: number
}

interface Pointed {
  readonly node: FileNode
  /** The line of the value's name, if it has one. */
  readonly line?: number
}

/** A value in the file with its line and path, for error messages. */
export class Place {
  readonly #file: string
  readonly #path: string
  readonly #node: FileNode
  readonly #line: number

  constructor(file: string, path: string, { node, line = node.line }: Pointed) {
    this.#file = file
    this.#path = path
    this.#node = node
    this.#line = line
  }

  get where(): string {
    return `${this.#file}:${this.#line}: ${this.#path === '' ? 'the file' : this.#path}`
  }

  wrong(must: string): Problem {
    return new Problem('invalid_input', `${this.where} ${must}.`)
  }

  /** Returns a mapping's values by name; each value's line is that of its name. */
  members(): Map<string, Place> {
    if (this.#node.kind !== 'mapping') throw this.wrong('must be a mapping')
    return new Map(
      this.#node.members.map(({ name, line, node }) => [name, this.#inside(name, { node, line })]),
    )
  }

  /**
   * Finds the value of a field such as `credential.value` or `rules[0]`. If the field does not exist, returns the
   * deepest existing place on the way to it.
   */
  at(field: string): Place {
    const [, name = '', index, rest = ''] = /^([^.[]*)(?:\[(\d+)\])?\.?(.*)$/.exec(field) ?? []
    const found = this.#node.kind === 'mapping' ? this.members().get(name) : undefined
    if (found === undefined) return this
    const inner = index === undefined ? found : found.#item(Number(index))
    return rest === '' ? inner : inner.at(rest)
  }

  #item(index: number): Place {
    const node = this.#node.kind === 'list' ? this.#node.items[index] : undefined
    return node === undefined ? this : new Place(this.#file, `${this.#path}[${index}]`, { node })
  }

  /** Returns the value if it satisfies the schema; otherwise throws. */
  check(schema: Schema): unknown {
    if (schema.anyOf !== undefined) return this.#checkAny(schema.anyOf)
    if (schema.const !== undefined) {
      if (this.#scalar() === schema.const) return schema.const
      throw this.wrong(`must be ${schema.const}`)
    }
    switch (schema.type) {
      case 'object':
        return this.#checkMapping(schema)
      case 'array':
        return this.#checkList(schema)
      case 'integer':
        return this.#checkWhole(schema)
      case 'boolean':
        if (typeof this.#scalar() !== 'boolean') throw this.wrong('must be true or false')
        return this.#scalar()
      default:
        return this.#checkText(schema)
    }
  }

  #inside(name: string, pointed: Pointed): Place {
    return new Place(this.#file, this.#path === '' ? name : `${this.#path}.${name}`, pointed)
  }

  #scalar(): unknown {
    return this.#node.kind === 'scalar' ? this.#node.value : undefined
  }

  #checkAny(choices: readonly Schema[]): unknown {
    const isNull = this.#scalar() === null
    const other = choices.find(({ type }) => type !== 'null')
    return isNull || other === undefined ? null : this.check(other)
  }

  #checkMapping(schema: Schema): Record<string, unknown> {
    const { properties = {}, required = [], additionalProperties, propertyNames } = schema
    const members = this.members()
    if (members.size > (schema.maxProperties ?? Infinity)) {
      throw this.wrong(`has more than ${schema.maxProperties} members`)
    }
    const missing = required.find((name) => !members.has(name))
    if (missing !== undefined) throw this.wrong(`needs ${missing}`)
    const names = propertyNames && new RegExp(propertyNames.pattern, 'u')
    return Object.fromEntries(
      [...members].map(([name, place]) => {
        const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
        if (known === undefined || known === false) {
          throw place.wrong(`is not known here; there are ${Object.keys(properties).join(', ')}`)
        }
        if (names !== undefined && !names.test(name)) {
          const use = propertyNames?.description ?? 'lower-case letters, digits and "-"'
          throw place.wrong(`is no name here: use ${use}`)
        }
        return [name, place.check(known)]
      }),
    )
  }

  #checkList({ items = {}, maxItems = Infinity }: Schema): unknown[] {
    if (this.#node.kind !== 'list') throw this.wrong('must be a list')
    if (this.#node.items.length > maxItems) throw this.wrong(`has more than ${maxItems} items`)
    return this.#node.items.map((node, index) =>
      new Place(this.#file, `${this.#path}[${index}]`, { node }).check(items),
    )
  }

  #checkWhole({ minimum = -Infinity, maximum = Infinity }: Schema): number {
    const value = this.#scalar()
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      throw this.wrong('must be a whole number')
    }
    if (value < minimum || value > maximum) {
      throw this.wrong(`must be a whole number from ${minimum} to ${maximum}`)
    }
    return value
  }

  #checkText(schema: Schema): string {
    const value = this.#scalar()
    if (schema.enum !== undefined) {
      const known = schema.enum.find((one) => one === value)
      if (known === undefined) throw this.wrong(`must be ${schema.enum.join(' or ')}`)
      return known
    }
    if (typeof value !== 'string') throw this.wrong('must be a text')
    const { minLength = 0, maxLength = Infinity, pattern } = schema
    if (value.length < minLength || lengthOf(value, maxLength) > maxLength) {
      throw this.wrong(`must have ${minLength} to ${maxLength} characters`)
    }
    if (!value.isWellFormed() || value.includes('\u0000'))
      throw this.wrong('has characters that are none')
    if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
      throw this.wrong(schema.patternErrorMessage ?? 'is not written as it must be')
    }
    return value
  }
}

/**
 * Returns a text's length in code points (JSON Schema). A text of up to `max` UTF-16 units cannot be too long, so its
 * code points are not counted.
 */
function lengthOf(text: string, max: number): number {
  return text.length <= max ? text.length : Array.from(text).length
}
