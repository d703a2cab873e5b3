import { timeOfId } from '../../../../ids.ts'
import {
  callColumns,
  packedColumns,
  type CallColumn,
  type CallValues,
} from '../record/call-columns.ts'

/**
 * The largest number of rows in a block. Storing a block costs about as much as storing two rows would, and a search for
 * a key reads a whole block for each of its calls.
 */
export const maxBlockRows = 128
/** A block ends when its rows take this many bytes, so that captured bodies make no huge blocks. */
export const maxBlockBytes = 32 * 1024
/**
 * The largest difference between the times of a block's ids. It bounds how many blocks a search reads around one id,
 * although calls end in another order than they arrive.
 */
export const maxBlockSpanMs = 10_000
/**
 * The same for blocks of calls that have just ended. It is smaller, because at a high rate more blocks overlap the longer
 * they are; at a low rate, blocks are merged later.
 */
export const maxNewSpanMs = 1000

/** Rows of one organization that SQLite stores as one value, with what its indexes say about them. */
export interface CallBlock extends BlockFacts {
  /** The rows as JSON in ASCII; see `unpackRows`. */
  readonly rows: string | Uint8Array
  /** Whether the block is not to be merged with others any more. */
  readonly isMerged?: boolean
}

export interface BlockFacts {
  readonly organizationId: string
  readonly firstId: string
  readonly lastId: string
  readonly calls: number
  /** How many of the calls have a status of 500 or above. */
  readonly failed: number
  /** The keys of the calls, and the number of calls of each. */
  readonly keys: readonly (readonly [string, number])[]
}

/** A part of a batch; `facts` is undefined if its rows have to be divided into blocks first. */
export interface BlockPart {
  readonly rows: string | Uint8Array
  readonly facts: BlockFacts | undefined
}

/** The position of each column in a full row. */
export const positionOf = Object.fromEntries(callColumns.map((name, at) => [name, at])) as Readonly<
  Record<CallColumn, number>
>

const packedPositions = packedColumns.map((name) => positionOf[name])
const commonPositions = [...callColumns.keys()].filter((at) => !packedPositions.includes(at))

/**
 * A row as written: either all of its values, or packed: the index of an earlier full row in the same list, which has
 * the same values in the common columns, followed by the values of `packedColumns`.
 */
export type WrittenRow = CallValues

export function parseRows(rows: string | Uint8Array): readonly WrittenRow[] {
  return JSON.parse(typeof rows === 'string' ? rows : asciiOf(rows)) as WrittenRow[]
}

/** Returns all values of each row. */
export function unpackRows(rows: string | Uint8Array): CallValues[] {
  const written = parseRows(rows)
  return written.map((row) => (isPacked(row) ? unpacked(row, written[row[0]] ?? []) : row))
}

export function isPacked(row: WrittenRow): row is readonly [number, ...CallValues] {
  return typeof row[0] === 'number'
}

function unpacked(row: CallValues, like: CallValues): CallValues {
  const full = [...like]
  for (const [index, at] of packedPositions.entries()) full[at] = row[index + 1] ?? null
  return full
}

/** Divides rows into blocks, each of at most this span. The order of the rows does not matter. */
export function blocksOf(rows: readonly CallValues[], spanMs: number): CallBlock[] {
  const sorted = rows.toSorted((a, b) => compare(a, b, 'organization_id') || compare(a, b, 'id'))
  const blocks: CallBlock[] = []
  let builder: BlockBuilder | undefined
  for (const row of sorted) {
    if (builder?.takes(row, spanMs) !== true) {
      if (builder !== undefined) blocks.push(builder.build())
      builder = new BlockBuilder(row)
    }
    builder.add(row)
  }
  return builder === undefined ? blocks : [...blocks, builder.build()]
}

function compare(a: CallValues, b: CallValues, column: 'organization_id' | 'id'): number {
  const [one, other] = [textIn(a, column), textIn(b, column)]
  return one === other ? 0 : one < other ? -1 : 1
}

function textIn(row: CallValues, column: CallColumn): string {
  return String(row[positionOf[column]])
}

/** Collects rows of one organization, in the order of their ids. */
class BlockBuilder {
  readonly #organizationId: string
  readonly #firstId: string
  readonly #firstMs: number
  readonly #written: string[] = []
  /** The first full row of each combination of common values, by these values, and its index. */
  readonly #likes = new Map<string, number>()
  readonly #keys = new Map<string, number>()
  #bytes = 0
  #lastId: string
  #failed = 0

  constructor(first: CallValues) {
    this.#organizationId = textIn(first, 'organization_id')
    this.#firstId = this.#lastId = textIn(first, 'id')
    this.#firstMs = timeOfId(this.#firstId)
  }

  takes(row: CallValues, spanMs: number): boolean {
    return (
      textIn(row, 'organization_id') === this.#organizationId &&
      this.#written.length < maxBlockRows &&
      this.#bytes < maxBlockBytes &&
      timeOfId(textIn(row, 'id')) - this.#firstMs <= spanMs
    )
  }

  add(row: CallValues): void {
    const common = JSON.stringify(commonPositions.map((at) => row[at]))
    const like = this.#likes.get(common)
    if (like === undefined) this.#likes.set(common, this.#written.length)
    const written = ascii(
      JSON.stringify(like === undefined ? row : [like, ...packedPositions.map((at) => row[at])]),
    )
    this.#written.push(written)
    this.#bytes += written.length + 1
    this.#lastId = textIn(row, 'id')
    const keyId = textIn(row, 'key_id')
    this.#keys.set(keyId, (this.#keys.get(keyId) ?? 0) + 1)
    if (Number(row[positionOf.status]) >= 500) this.#failed++
  }

  build(): CallBlock {
    return {
      organizationId: this.#organizationId,
      firstId: this.#firstId,
      lastId: this.#lastId,
      calls: this.#written.length,
      failed: this.#failed,
      keys: [...this.#keys],
      rows: `[${this.#written.join(',')}]`,
    }
  }
}

/** Escapes what is not ASCII in JSON, so that every character of the text is one byte. */
export function ascii(json: string): string {
  return json.replaceAll(
    /[\u007f-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export function asciiOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
