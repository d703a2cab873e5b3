import { timeOfId } from '../../../../ids.ts'
import {
  callColumns,
  callRecordOf,
  rowOf,
  type CallTable,
  type CallValues,
} from '../record/call-columns.ts'
import type { CallRecord } from '../record/call-record.ts'
import { BlockEncoder } from './block-encoder.ts'
import { headBytes, rowBytes } from './block-format.ts'
import { BlockReader } from './block-reader.ts'

/**
 * The largest number of rows in a block. Storing a full block costs about as much as storing twelve rows did, and a
 * search for a key may have to read a whole block for each call it finds.
 */
export const maxBlockRows = 128
/** A block ends when it has about this many bytes, so that captured bodies make no huge blocks. */
const maxBlockBytes = 32 * 1024
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
export interface CallBlock {
  readonly organizationId: string
  readonly firstId: string
  readonly lastId: string
  readonly calls: number
  /** How many of the calls have a status of 500 or above. */
  readonly failed: number
  /** The keys of the calls, and the number of calls of each. */
  readonly keys: readonly (readonly [string, number])[]
  /** The rows; see block-format.ts. */
  readonly rows: Uint8Array
}

/** Records of a batch: as a block, which may be of several organizations or too long, or as a JSON array of rows. */
export type RowsPart = Uint8Array | string

export function isFull(encoder: BlockEncoder): boolean {
  return encoder.rows >= maxBlockRows || encoder.size >= maxBlockBytes
}

/** Yields the blocks of a batch. Parts that are not one block each are divided together, into blocks of this span. */
export function* blocksOfParts(parts: readonly RowsPart[], spanMs: number): Generator<CallBlock> {
  const others: CallRecord[] = []
  for (const part of parts) {
    const block = isBlock(part) ? asBlock(part, spanMs) : undefined
    if (block === undefined) others.push(...recordsOf(part))
    else yield block
  }
  if (others.length > 0) yield* blocksOf(others, spanMs)
}

/**
 * Divides records into blocks, each of at most this span. The order of the records does not matter. Calls `between` after
 * each block.
 */
export function blocksOf(
  records: readonly CallRecord[],
  spanMs: number,
  between: () => void = () => undefined,
): CallBlock[] {
  const sorted = records.toSorted(
    (a, b) => compare(a.organizationId, b.organizationId) || compare(a.id, b.id),
  )
  const encoder = new BlockEncoder(memoryFor(sorted.length))
  const encoded: Uint8Array[] = []
  let first = sorted[0]
  for (const [index, record] of sorted.entries()) {
    if (first === undefined || isFull(encoder) || !isTogether(first, record, spanMs)) {
      encoded.push(...endBlock(encoder))
      between()
      encoder.use(memoryFor(sorted.length - index))
      first = record
    }
    encoder.add(record)
  }
  encoded.push(...endBlock(encoder))
  return encoded.map((rows) => asBlock(rows, spanMs)).filter((block) => block !== undefined)
}

function endBlock(encoder: BlockEncoder): Uint8Array[] {
  const block = encoder.endBlock()
  return block === undefined ? [] : [block]
}

/** Allocates memory for the rows of one block and usually for their texts. */
function memoryFor(records: number): Buffer {
  return Buffer.alloc(headBytes + Math.min(records, maxBlockRows) * (rowBytes + usualTextBytes))
}

const usualTextBytes = 64

function isTogether(first: CallRecord, other: CallRecord, spanMs: number): boolean {
  return (
    other.organizationId === first.organizationId &&
    timeOfId(other.id) - timeOfId(first.id) <= spanMs
  )
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** Returns the facts about a block with its rows; undefined if it is of several organizations or too long. */
function asBlock(rows: Uint8Array, spanMs: number): CallBlock | undefined {
  const reader = new BlockReader(rows)
  const organization = reader.textNumber(0, 'organization_id')
  const keys = new Map<number, number>()
  let [first, last, failed] = [reader.id(0), reader.id(0), 0]
  let [firstBytes, lastBytes] = [Buffer.from(first), Buffer.from(last)]
  for (let row = 0; row < reader.rows; row++) {
    if (reader.textNumber(row, 'organization_id') !== organization) return undefined
    const key = reader.textNumber(row, 'key_id')
    keys.set(key, (keys.get(key) ?? 0) + 1)
    if (reader.status(row) >= 500) failed++
    if (reader.compareId(row, firstBytes) < 0) {
      first = reader.id(row)
      firstBytes = Buffer.from(first)
    } else if (reader.compareId(row, lastBytes) > 0) {
      last = reader.id(row)
      lastBytes = Buffer.from(last)
    }
  }
  if (timeOfId(last) - timeOfId(first) > spanMs) return undefined
  return {
    organizationId: reader.text(organization) ?? '',
    ...{ firstId: first, lastId: last, calls: reader.rows, failed, rows },
    keys: [...keys].map(([key, calls]) => [reader.text(key) ?? '', calls] as const),
  }
}

/** Returns the keys of the calls in a block. */
export function keyIdsOf(rows: Uint8Array): string[] {
  const reader = new BlockReader(rows)
  const numbers = new Set<number>()
  for (let row = 0; row < reader.rows; row++) numbers.add(reader.textNumber(row, 'key_id'))
  return [...numbers].map((number) => reader.text(number) ?? '')
}

/** Returns the records of a part. */
export function recordsOf(part: RowsPart): CallRecord[] {
  if (!isBlock(part)) return (JSON.parse(textOf(part)) as CallValues[]).map(recordOfValues)
  const reader = new BlockReader(part)
  return Array.from({ length: reader.rows }, (_, row) =>
    recordOfValues(reader.values(row, callColumns)),
  )
}

function recordOfValues(values: CallValues): CallRecord {
  return callRecordOf(rowOf(callColumns, values) as CallTable)
}

function isBlock(part: RowsPart): part is Uint8Array {
  return typeof part !== 'string' && part[0] !== openBracket
}

const openBracket = 0x5b

/** Returns the text of a part in JSON. */
export function textOf(part: RowsPart): string {
  if (typeof part === 'string') return part
  return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1')
}
