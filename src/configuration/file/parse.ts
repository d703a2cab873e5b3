import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
} from 'yaml'

/** A value of a file with the line where it begins; plain data, so that a thread can hand it over. */
export type FileNode =
  | { readonly kind: 'mapping'; readonly line: number; readonly members: readonly FileMember[] }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly FileNode[] }
  | { readonly kind: 'scalar'; readonly line: number; readonly value: unknown }

/** A member of a mapping; `line` is that of its name. */
export interface FileMember {
  readonly name: string
  readonly line: number
  readonly node: FileNode
}

/** What a file's text says, or the first thing that is wrong with it. */
export type ParsedFile =
  | { readonly root: FileNode }
  | { readonly line: number; readonly fault: string }

/** Deeper than any setting lies, and far from the end of the stack. */
const maxDepth = 32

/** A fault on its way out of the reading. */
class Fault {
  readonly line: number
  readonly fault: string

  constructor(line: number, fault: string) {
    this.line = line
    this.fault = fault
  }
}

/** Reads YAML strictly. This takes seconds for some texts of a few megabytes: see parse-aside.ts. */
export function parseFile(text: string): ParsedFile {
  const lines = new LineCounter()
  // Names are compared in `members`: the parser would compare each with each. And where it quotes the file behind
  // its sentences, there may be a secret.
  const options = { lineCounter: lines, uniqueKeys: false, strict: true, prettyErrors: false }
  const document = parseDocument(text, options)
  try {
    refuseFaults(document, lines)
    return { root: toNode(document.contents, { lines, depth: 0 }) }
  } catch (error) {
    if (error instanceof Fault) return { line: error.line, fault: error.fault }
    throw error
  }
}

interface At {
  readonly lines: LineCounter
  readonly depth: number
}

function refuseFaults({ errors: [fault] }: Document.Parsed, lines: LineCounter): void {
  if (fault === undefined) return
  const isTooDeep = fault.code === 'RESOURCE_EXHAUSTION'
  throw new Fault(
    lines.linePos(Math.max(0, fault.pos[0])).line,
    isTooDeep ? 'This is nested too deeply' : fault.message,
  )
}

function toNode(node: Node | null | undefined, at: At): FileNode {
  const line = lineOf(node, at)
  if (at.depth > maxDepth) throw new Fault(line, `This is nested deeper than ${maxDepth}`)
  // Aliases are what small files grow to gigabytes with; nothing here needs them.
  if (isAlias(node)) throw new Fault(line, 'This is an alias; write the value out')
  const inside = { lines: at.lines, depth: at.depth + 1 }
  if (isMap<Node, Node | null>(node)) {
    return { kind: 'mapping', line, members: membersOf(node.items, inside) }
  }
  if (isSeq<Node>(node)) {
    return { kind: 'list', line, items: node.items.map((item) => toNode(item, inside)) }
  }
  return { kind: 'scalar', line, value: isScalar(node) ? toPlain(node.value) : null }
}

function membersOf(pairs: readonly Pair<Node, Node | null>[], at: At): FileMember[] {
  const names = new Set<string>()
  return pairs.map(({ key, value }) => {
    const line = lineOf(key, at)
    if (!isScalar(key)) throw new Fault(line, 'A name must be a text')
    const name = String(key.value)
    if (names.has(name)) throw new Fault(line, 'Map keys must be unique')
    names.add(name)
    return { name, line, node: toNode(value, at) }
  })
}

/** Dates, bytes and whatever else tags make are nothing that a setting can be. */
function toPlain(value: unknown): unknown {
  return typeof value === 'object' ? (value === null ? null : undefined) : value
}

function lineOf(node: Node | null | undefined, { lines }: At): number {
  return Math.max(1, lines.linePos(node?.range?.[0] ?? 0).line)
}
