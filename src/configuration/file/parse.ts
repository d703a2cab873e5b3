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

/** A value in a file, with the number of its first line; plain data, so that a thread can return it. */
export type FileNode =
  | { readonly kind: 'mapping'; readonly line: number; readonly members: readonly FileMember[] }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly FileNode[] }
  | { readonly kind: 'scalar'; readonly line: number; readonly value: unknown }

/** A member of a mapping; `line` is the line of its name. */
export interface FileMember {
  readonly name: string
  readonly line: number
  readonly node: FileNode
}

/** The content of a file, or its first error. */
export type ParsedFile =
  | { readonly root: FileNode }
  | { readonly line: number; readonly fault: string }

/** Settings are never nested this deeply, and this depth is far from exhausting the stack. */
const maxDepth = 32

class Fault {
  readonly line: number
  readonly fault: string

  constructor(line: number, fault: string) {
    this.line = line
    this.fault = fault
  }
}

/** Parses YAML strictly. Some texts of a few megabytes take seconds: see parse-aside.ts. */
export function parseFile(text: string): ParsedFile {
  const lines = new LineCounter()
  // `membersOf` checks for duplicate names, because the parser's own check compares every pair of names. Pretty errors
  // are off, because they quote the file, which may contain a secret.
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

/** Our messages by error code, in place of messages of the YAML library that are meant for programmers. */
const faultTexts: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'A second document begins here; a file has one organization',
}

function refuseFaults({ errors: [fault] }: Document.Parsed, lines: LineCounter): void {
  if (fault === undefined) return
  const isTooDeep = fault.code === 'RESOURCE_EXHAUSTION'
  throw new Fault(
    lines.linePos(Math.max(0, fault.pos[0])).line,
    isTooDeep ? 'This is nested too deeply' : (faultTexts[fault.code] ?? fault.message),
  )
}

function toNode(node: Node | null | undefined, at: At): FileNode {
  const line = lineOf(node, at)
  if (at.depth > maxDepth) throw new Fault(line, `This is nested deeper than ${maxDepth}`)
  // Aliases let a small file expand to gigabytes, and nothing here needs them.
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

/** Turns dates, bytes and other values that no setting accepts into undefined; YAML tags can produce them. */
function toPlain(value: unknown): unknown {
  return typeof value === 'object' ? (value === null ? null : undefined) : value
}

function lineOf(node: Node | null | undefined, { lines }: At): number {
  return Math.max(1, lines.linePos(node?.range?.[0] ?? 0).line)
}
