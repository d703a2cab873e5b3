import type { Engine } from '../../db/db.ts'
import { ascii, unpackRows, type BlockFacts, type BlockPart } from './blocks/call-block.ts'
import { callColumns, type CallValues } from './record/call-columns.ts'
import type { CallRecord } from './record/call-record.ts'
import { FullRows, PackedRows, type PartPacker } from './blocks/part-packer.ts'
import { RowWriter } from './blocks/row-writer.ts'

/** Call records of one batch; for PostgreSQL, they are in one part. */
export interface CallRows {
  readonly count: number
  readonly parts: readonly BlockPart[]
}

export const noCallRows: CallRows = { count: 0, parts: [] }

const numbers = new Set(['at', 'status', 'bytes_in', 'bytes_out', 'duration_us', 'upstream_us'])

/**
 * The statement that adds a JSON array of full rows to PostgreSQL; it ignores records already present, because a batch
 * is retried when the response gets lost.
 */
export function insertRowsText(): string {
  const values = callColumns.map((name, at) =>
    numbers.has(name) ? `(value->>${at})::bigint` : `value->>${at}`,
  )
  return `insert into call (${callColumns.join(', ')}) select ${values.join(', ')} from jsonb_array_elements($1::jsonb) as row (value) on conflict do nothing`
}

const bufferBytes = 512 * 1024
const maxSpare = 4

/** A batch whose parts are in one buffer. */
class FilledBuffer implements CallRows {
  readonly buffer: Buffer
  readonly count: number
  readonly parts: readonly BlockPart[]

  constructor(buffer: Buffer, count: number, parts: readonly BlockPart[]) {
    this.buffer = buffer
    this.count = count
    this.parts = parts
  }
}

/**
 * Collects call records as bytes until their batch is written, in buffers that are reused. Records kept as objects or
 * strings would outlive V8's young generation, and garbage collections of the old generation delay calls.
 */
export class CallRowsBuffer {
  readonly #spare: Buffer[] = []
  readonly #packer: PartPacker
  #bytes = sharedBuffer()
  #used = 0
  #count = 0
  #parts: BlockPart[] = []
  /** Where the part that is being filled begins, and how many rows it has. */
  #partAt = 0
  #partRows = 0
  /** Complete batches that have not been taken yet. */
  readonly #full: CallRows[] = []

  constructor(engine: Engine) {
    this.#packer = engine === 'sqlite' ? new PackedRows() : new FullRows()
  }

  /** The number of rows in the batch being filled. */
  get count(): number {
    return this.#count
  }

  add(call: CallRecord): void {
    if (this.#packer.isFull(this.#partRows, this.#used - this.#partAt)) {
      this.#endPart(this.#packer.end())
    }
    const row = this.#packer.rowOf(call, this.#partRows)
    // The 2 bytes are a bracket or comma before the row, and the closing bracket.
    if (this.#used + row.length + 2 > bufferBytes) this.#addBeyond(call)
    else this.#append(row)
  }

  /** Adds a record for which the buffer has no room: to the next one or, if it is larger than a buffer, by itself. */
  #addBeyond(call: CallRecord): void {
    // The packer has noted the record in a part that does not contain it, so that part's facts are not used.
    this.#packer.end()
    this.#endBatch(undefined)
    const row = this.#packer.rowOf(call, 0)
    if (row.length + 2 <= bufferBytes) {
      this.#append(row)
      return
    }
    this.#packer.end()
    this.#full.push({ count: 1, parts: [{ rows: `[${row}]`, facts: undefined }] })
  }

  #append(row: string): void {
    this.#bytes[this.#used] = this.#partRows === 0 ? openBracket : comma
    this.#used += 1 + this.#bytes.write(row, this.#used + 1, 'latin1')
    this.#partRows++
    this.#count++
  }

  /** Removes and returns the collected batches, oldest first. */
  take(): CallRows[] {
    this.#endBatch(this.#packer.end())
    return this.#full.splice(0)
  }

  /** Takes back the memory of a batch for new records; nobody may read that batch any more. */
  reuse(rows: CallRows): void {
    if (rows instanceof FilledBuffer && this.#spare.length < maxSpare) this.#spare.push(rows.buffer)
  }

  #endPart(facts: BlockFacts | undefined): void {
    if (this.#partRows === 0) return
    this.#bytes[this.#used++] = closeBracket
    this.#parts.push({ rows: this.#bytes.subarray(this.#partAt, this.#used), facts })
    this.#partAt = this.#used
    this.#partRows = 0
  }

  #endBatch(facts: BlockFacts | undefined): void {
    this.#endPart(facts)
    if (this.#count === 0) return
    this.#full.push(new FilledBuffer(this.#bytes, this.#count, this.#parts))
    this.#bytes = this.#spare.pop() ?? sharedBuffer()
    this.#parts = []
    this.#used = this.#count = this.#partAt = 0
  }
}

function sharedBuffer(): Buffer {
  return Buffer.from(new SharedArrayBuffer(bufferBytes))
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

/** Splits rows in two, in order to find the record that the database refuses. */
export function halvesOf({ parts }: CallRows): readonly [CallRows, CallRows] {
  const rows = parts.flatMap((part) => unpackRows(part.rows))
  const middle = Math.ceil(rows.length / 2)
  return [batchOf(rows.slice(0, middle)), batchOf(rows.slice(middle))]
}

function batchOf(rows: readonly CallValues[]): CallRows {
  return inOnePart(rows.length, ascii(JSON.stringify(rows)))
}

/** Converts records into rows all at once, without the buffer of `CallRowsBuffer`. */
export function rowsOf(calls: readonly CallRecord[]): CallRows {
  const writer = new RowWriter()
  return inOnePart(calls.length, `[${calls.map((call) => writer.rowOf(call)).join(',')}]`)
}

function inOnePart(count: number, rows: string): CallRows {
  return count === 0 ? noCallRows : { count, parts: [{ rows, facts: undefined }] }
}
