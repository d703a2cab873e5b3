import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Node } from 'yaml'
import { Problem } from '../errors.ts'
import { parseRule, renderRule } from '../targets/index.ts'
import { settingNames, type Configuration, type TargetEntry } from './configuration.ts'
import { checkReference } from './references.ts'

const maxBytes = 1024 * 1024
const maxTargets = 2000

/** Where a value stands: its line and its path, for the one sentence that says what is wrong. */
class Place {
  readonly file: string
  readonly lines: LineCounter
  readonly path: string
  readonly node: Node | null | undefined

  constructor(of: Pick<Place, 'file' | 'lines' | 'path' | 'node'>) {
    this.file = of.file
    this.lines = of.lines
    this.path = of.path
    this.node = of.node
  }

  get where(): string {
    const offset = this.node?.range?.[0] ?? 0
    return `${this.file}:${this.lines.linePos(offset).line}: ${this.path || 'the file'}`
  }

  inside(path: string, node: Node | null): Place {
    return new Place({ file: this.file, lines: this.lines, path, node })
  }

  wrong(must: string): Problem {
    return new Problem('invalid_input', `${this.where} ${must}.`)
  }

  /** The members of a mapping, all of them among `known`. */
  members(known?: readonly string[]): Map<string, Place> {
    if (!isMap<Node, Node | null>(this.node)) throw this.wrong('must be a mapping')
    const found = new Map<string, Place>()
    for (const { key, value } of this.node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      const path = this.path === '' ? name : `${this.path}.${name}`
      const place = this.inside(path, value ?? key)
      if (known !== undefined && !known.includes(name)) {
        const at = this.inside(path, key)
        throw at.wrong(`is not known here; there are ${known.join(', ')}`)
      }
      found.set(name, place)
    }
    return found
  }

  items(): Place[] {
    if (!isSeq<Node>(this.node)) throw this.wrong('must be a list')
    return this.node.items.map((node, index) => this.inside(`${this.path}[${index}]`, node))
  }

  text(): string {
    if (isScalar(this.node) && typeof this.node.value === 'string') return this.node.value
    throw this.wrong('must be a text')
  }

  oneOf<const Value>(...values: readonly Value[]): Value {
    const value = isScalar(this.node) ? this.node.value : undefined
    const found = values.find((one) => one === value)
    if (found === undefined) throw this.wrong(`must be ${values.join(' or ')}`)
    return found
  }

  plain(): unknown {
    if (isScalar(this.node)) return this.node.value
    if (isSeq(this.node)) return this.items().map((item) => item.plain())
    return Object.fromEntries(
      [...this.members()].map(([name, place]) => [camelCase(name), place.plain()]),
    )
  }
}

/** Reads a file strictly: `invalid_input` in one sentence with file, line and path. */
export function readConfiguration(text: string, file: string): Configuration {
  if (Buffer.byteLength(text) > maxBytes) {
    throw new Problem('invalid_input', `${file} is larger than 1 MiB.`)
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, strict: true })
  const [fault] = document.errors
  if (fault !== undefined) {
    const line = fault.linePos?.[0].line ?? 1
    throw new Problem('invalid_input', `${file}:${line}: ${fault.message.split('\n')[0] ?? ''}`)
  }
  visit(document, {
    Alias(_, node) {
      throw new Place({ file, lines, path: '', node }).wrong('has an alias; write the value out')
    },
  })
  const whole = new Place({ file, lines, path: '', node: document.contents })
  const members = whole.members(['version', 'organization', 'key_defaults', 'targets'])
  need(whole, members, 'version').oneOf(1)
  const targets = [...(members.get('targets')?.members() ?? [])]
  if (targets.length > maxTargets) throw whole.wrong(`has more than ${maxTargets} targets`)
  return {
    organization: readOrganization(need(whole, members, 'organization')),
    key_defaults: readDefaults(members.get('key_defaults')),
    targets: targets
      .map(([slug, place]) => readTarget(slug, place))
      .toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
  }
}

function need(of: Place, members: Map<string, Place>, name: string): Place {
  const found = members.get(name)
  if (found === undefined) throw of.wrong(`needs ${name}`)
  return found
}

function readOrganization(place: Place): Configuration['organization'] {
  const members = place.members(['slug', 'name'])
  const slug = need(place, members, 'slug').text()
  return { slug, name: members.get('name')?.text() ?? slug }
}

function readDefaults(place: Place | undefined): Configuration['key_defaults'] {
  const members = place?.members(['scheme', 'expires_after_days', 'cidrs'])
  const days = members?.get('expires_after_days')
  const cidrs = members?.get('cidrs')
  return {
    scheme: members?.get('scheme')?.oneOf('x-api-key', 'bearer') ?? 'x-api-key',
    expires_after_days: days === undefined || days.plain() === null ? null : wholeNumber(days),
    cidrs:
      cidrs === undefined || cidrs.plain() === null ? null : cidrs.items().map((one) => one.text()),
  }
}

function wholeNumber(place: Place): number {
  const value = place.plain()
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw place.wrong('must be a whole number')
}

const settingsByFileName = new Map(
  Object.entries(settingNames).map(([inside, outside]) => [outside, inside]),
)
const ownFields = ['name', 'upstream', 'credential', 'rules', 'otherwise', 'disabled']

function readTarget(slug: string, place: Place): TargetEntry {
  const members = place.members([...ownFields, ...settingsByFileName.keys()])
  const upstream = need(place, members, 'upstream')
  const settings: Record<string, unknown> = {}
  for (const [name, at] of members) {
    const inside = settingsByFileName.get(name)
    if (inside !== undefined) settings[inside] = lowerCased(inside, at.plain())
  }
  return {
    slug,
    name: members.get('name')?.text() ?? slug,
    upstream: URL.canParse(upstream.text())
      ? new URL(upstream.text()).href
      : refuse(upstream.wrong('must be a URL')),
    credential: readCredential(members.get('credential')),
    rules: (members.get('rules')?.items() ?? []).map(readRule),
    otherwise: members.get('otherwise')?.oneOf('allow', 'refuse') ?? null,
    disabled: members.get('disabled')?.oneOf(true, false) ?? false,
    settings,
  }
}

/** Names of headers are kept in lower case, however somebody wrote them. */
function lowerCased(name: string, value: unknown): unknown {
  const lower = (names: unknown): unknown =>
    Array.isArray(names) ? [...new Set(names.map((one) => String(one).toLowerCase()))] : names
  if (name === 'answerHeaders') return lower(value)
  if (name !== 'capture') return value
  const capture = value as Record<string, unknown>
  return { ...capture, headers: lower(capture['headers']) }
}

function readCredential(place: Place | undefined): TargetEntry['credential'] {
  if (place === undefined) return null
  const members = place.members(['header', 'value'])
  const value = need(place, members, 'value')
  return {
    header: need(place, members, 'header').text(),
    value: checkReference(value.text(), value.where),
  }
}

function readRule(place: Place): string {
  try {
    return renderRule(parseRule(place.text()))
  } catch (error) {
    if (error instanceof Problem && !error.message.startsWith(place.file)) {
      throw place.wrong(`is wrong: ${error.message.replace(/\.$/, '')}`)
    }
    throw error
  }
}

function refuse(problem: Problem): never {
  throw problem
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
