import { findAttribute, resolveTarget } from '../schema/attributes.ts'
import type { Attribute, ResourceType, Target } from '../schema/attributes.ts'
import type { Filter } from './filter-tree.ts'
import { compareValue, operatorOf } from './filter-values.ts'
import { tokenize, type Token } from './filter-tokens.ts'
import { refuse, type ScimError } from '../protocol/errors.ts'

const maxDepth = 16
const maxTerms = 64

export interface FilterOptions {
  /** With 'absent', an unknown attribute is treated as one that no resource has. */
  readonly unknown?: 'refuse' | 'absent'
  readonly depth?: number
  readonly characters?: number
}

/** Parses a filter and resolves its names by the schemas of a resource type; throws `invalidFilter` (400). */
export function parseFilter(
  source: string,
  type: ResourceType,
  { unknown = 'refuse', depth = maxDepth, characters }: FilterOptions = {},
): Filter {
  const tokens = tokenize(source, 'invalidFilter', characters)
  const parser = new FilterParser(tokens, (name) => {
    const target = resolveTarget(type, name)
    if (target === undefined && unknown === 'refuse') {
      throw refuse('invalidFilter', `There is no attribute '${name}' to filter by.`)
    }
    return target
  })
  // The parser counts levels of nesting up to `maxDepth`. Starting at this number leaves it `depth` levels.
  const filter = parser.filter(maxDepth - depth)
  parser.end()
  return filter
}

/** Parses the filter between the brackets of a value path, where names are parts of the attribute. */
export function parseValueFilter(tokens: readonly Token[], attribute: Attribute): Filter {
  const parser = new FilterParser(tokens, (name) => partOf(attribute, name))
  const filter = parser.filter(1)
  parser.end()
  return filter
}

function partOf(owner: Attribute, name: string): Target {
  const part = findAttribute(owner.subAttributes ?? [], name)
  if (part === undefined) throw refuse('invalidFilter', `'${owner.name}' has no part '${name}'.`)
  return { extension: undefined, attribute: part, sub: undefined }
}

type Resolve = (name: string) => Target | undefined

class FilterParser {
  readonly #tokens: readonly Token[]
  readonly #resolve: Resolve
  #at = 0
  #terms = 0

  constructor(tokens: readonly Token[], resolve: Resolve) {
    this.#tokens = tokens
    this.#resolve = resolve
  }

  // Parses terms joined by `or`, which binds loosest, then `and`, then `not` (RFC 7644 section 3.4.2.2).
  filter(depth: number): Filter {
    if (depth > maxDepth) throw wrong('It is nested too deeply.')
    const terms = [this.#conjunction(depth)]
    while (this.#takesWord('or')) terms.push(this.#conjunction(depth))
    return join('or', terms)
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw wrong('It goes on after its end.')
  }

  #conjunction(depth: number): Filter {
    const terms = [this.#term(depth)]
    while (this.#takesWord('and')) terms.push(this.#term(depth))
    return join('and', terms)
  }

  #term(depth: number): Filter {
    if (++this.#terms > maxTerms) throw wrong(`It has more than ${maxTerms} terms.`)
    if (this.#takes('(')) return this.#group(depth)
    const token = this.#next('an attribute')
    if (token.kind !== 'word') throw wrong('An attribute is expected.')
    if (token.text.toLowerCase() === 'not' && this.#takes('(')) {
      return { kind: 'not', term: this.#group(depth) }
    }
    const target = this.#resolve(token.text)
    if (this.#takes('[')) return this.#valuePath(target, depth)
    return this.#comparison(target)
  }

  #group(depth: number): Filter {
    const inner = this.filter(depth + 1)
    if (!this.#takes(')')) throw wrong('A closing parenthesis is missing.')
    return inner
  }

  #valuePath(target: Target | undefined, depth: number): Filter {
    const owner = target?.sub ?? target?.attribute
    const inner = new FilterParser(this.#tokens, (name) =>
      owner === undefined ? undefined : partOf(owner, name),
    )
    inner.#at = this.#at
    inner.#terms = this.#terms
    const where = inner.filter(depth + 1)
    this.#at = inner.#at
    this.#terms = inner.#terms
    if (!this.#takes(']')) throw wrong('A closing bracket is missing.')
    const part = this.#afterBracket()
    if (target === undefined || owner === undefined) {
      return part === undefined ? { kind: 'never' } : this.#comparison(undefined)
    }
    if (owner.type !== 'complex') throw wrong(`'${owner.name}' has no parts.`)
    // Entra sends `emails[type eq "work"].value eq "x"`, which RFC 7644's grammar does not allow.
    if (part === undefined) return { kind: 'some', target, where }
    const compared = this.#comparison(partOf(owner, part))
    return { kind: 'some', target, where: join('and', [where, compared]) }
  }

  #afterBracket(): string | undefined {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'word' || !token.text.startsWith('.')) return undefined
    this.#at++
    return token.text.slice(1)
  }

  #comparison(target: Target | undefined): Filter {
    const word = this.#next('an operator')
    const operator = word.kind === 'word' ? operatorOf(word.text) : undefined
    if (operator === undefined) {
      throw wrong(
        word.kind === 'word' ? `'${word.text}' is no operator.` : 'An operator is expected.',
      )
    }
    if (operator === 'pr') return target ? { kind: 'present', target } : { kind: 'never' }
    const literal = this.#next('a value')
    if (target === undefined) return { kind: 'never' }
    return compareValue(target, operator, literal)
  }

  #next(what: string): Token {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw wrong(`It ends where ${what} is expected.`)
    return token
  }

  #takes(kind: Token['kind']): boolean {
    if (this.#tokens[this.#at]?.kind !== kind) return false
    this.#at++
    return true
  }

  #takesWord(word: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'word' || token.text.toLowerCase() !== word) return false
    this.#at++
    return true
  }
}

function join(kind: 'and' | 'or', terms: readonly Filter[]): Filter {
  const [first] = terms
  return terms.length === 1 && first !== undefined ? first : { kind, terms }
}

function wrong(detail: string): ScimError {
  return refuse('invalidFilter', detail)
}
