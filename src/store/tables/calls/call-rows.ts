import type { Engine } from '../../db/db.ts'
import { BlockEncoder } from './blocks/block-encoder.ts'
import { isFull, recordsOf, type RowsPart } from './blocks/call-block.ts'
import { callColumns } from './record/call-columns.ts'
import type { CallRecord } from './record/call-record.ts'
import { RowWriter } from './row-writer.ts'

/** Call records of one batch: for PostgreSQL as one JSON array, for SQLite usually as blocks. */
export interface CallRows {
  readonly count: number
  readonly parts: readonly RowsPart[]
}

export const noCallRows: CallRows = { count: 0, parts: [] }

const numbers = new Set(['at', 'status', 'bytes_in', 'bytes_out', 'duration_us', 'upstream_us'])

/**
 * The statement that adds a JSON array of rows to PostgreSQL; it ignores records already present, because a batch is
 * retried when the response gets lost.
 */
export function insertRowsText(): string {
  const values = callColumns.map((name, at) =>
    numbers.has(name) ? `(value->>${at})::bigint` : `value->>${at}`,
  )
  return `insert into call (${callColumns.join(', ')}) select ${values.join(', ')} from jsonb_array_elements($1::jsonb) as row (value) on conflict do nothing`
}

/**
 * Collects call records as bytes until their batch is written, in buffers that are reused. Records kept as objects or
 * strings would outlive V8's young generation, and garbage collections of the old generation delay calls. Only the
 * texts of the latest block are kept as strings.
 */
export interface CallRowsBuffer {
  /** Whether the batch being filled has enough rows for a commit of its own. */
  readonly isDue: boolean
  add(call: CallRecord): void
  /** Removes and returns the collected batches, oldest first. */
  take(): CallRows[]
  /** Takes back the memory of a batch for new records; nobody may read that batch any more. */
  reuse(rows: CallRows): void
}

export function createCallRowsBuffer(engine: Engine): CallRowsBuffer {
  return engine === 'sqlite' ? new BlocksBuffer() : new JsonBuffer()
}

/** Fewer than on SQLite, because the thread of the calls makes one JSON text of them, and calls wait meanwhile. */
const jsonRowsInCommit = 512
/**
 * At 20,000 calls a second, this makes about twelve commits a second; each wakes the writer's thread, which may share a
 * core with the calls. A batch whose buffer is full ends earlier, and then waits for the next flush.
 */
const rowsInCommit = 2048
/** If organizations take turns, a batch needs more rows, because each organization gets a block of its own. */
const mixedRowsInCommit = 4096
const bufferBytes = 512 * 1024
const maxSpare = 4

/** A batch whose parts are in one buffer. */
class FilledBuffer implements CallRows {
  readonly buffer: Buffer
  readonly count: number
  readonly parts: readonly RowsPart[]

  constructor(buffer: Buffer, count: number, parts: readonly RowsPart[]) {
    this.buffer = buffer
    this.count = count
    this.parts = parts
  }
}

class SpareBuffers {
  readonly #spare: Buffer[] = []

  next(): Buffer {
    return this.#spare.pop() ?? Buffer.from(new SharedArrayBuffer(bufferBytes))
  }

  reuse(rows: CallRows): void {
    if (rows instanceof FilledBuffer && this.#spare.length < maxSpare) this.#spare.push(rows.buffer)
  }
}

class JsonBuffer implements CallRowsBuffer {
  readonly #spare = new SpareBuffers()
  #writer = new RowWriter()
  #bytes = this.#spare.next()
  #used = 0
  #count = 0
  readonly #full: CallRows[] = []

  get isDue(): boolean {
    return this.#count >= jsonRowsInCommit
  }

  add(call: CallRecord): void {
    const row = this.#writer.rowOf(call)
    // The 2 bytes are a bracket or comma before the row, and the closing bracket.
    if (this.#used + row.length + 2 > bufferBytes) this.#close()
    if (row.length + 2 > bufferBytes) {
      this.#full.push({ count: 1, parts: [`[${row}]`] })
      return
    }
    this.#bytes[this.#used] = this.#count === 0 ? openBracket : comma
    this.#used += 1 + this.#bytes.write(row, this.#used + 1, 'latin1')
    this.#count++
  }

  take(): CallRows[] {
    this.#close()
    return this.#full.splice(0)
  }

  reuse(rows: CallRows): void {
    this.#spare.reuse(rows)
  }

  #close(): void {
    this.#writer = new RowWriter()
    if (this.#count === 0) return
    this.#bytes[this.#used++] = closeBracket
    const part = this.#bytes.subarray(0, this.#used)
    this.#full.push(new FilledBuffer(this.#bytes, this.#count, [part]))
    this.#bytes = this.#spare.next()
    this.#used = this.#count = 0
  }
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c

class BlocksBuffer implements CallRowsBuffer {
  readonly #spare = new SpareBuffers()
  #bytes = this.#spare.next()
  readonly #encoder = new BlockEncoder(this.#bytes)
  #blocks: Uint8Array[] = []
  #count = 0
  /** How often another organization than before had a call. */
  #turns = 0
  #organizationId = ''
  readonly #full: CallRows[] = []

  get isDue(): boolean {
    const isMixed = this.#turns * 16 > this.#count
    return this.#count >= (isMixed ? mixedRowsInCommit : rowsInCommit)
  }

  add(call: CallRecord): void {
    if (call.organizationId !== this.#organizationId) {
      this.#organizationId = call.organizationId
      this.#turns++
    }
    if (isFull(this.#encoder)) this.#endBlock()
    if (!this.#encoder.hasRoom) this.#close()
    this.#encoder.add(call)
    this.#count++
  }

  take(): CallRows[] {
    this.#close()
    return this.#full.splice(0)
  }

  reuse(rows: CallRows): void {
    this.#spare.reuse(rows)
  }

  #endBlock(): void {
    const block = this.#encoder.endBlock()
    if (block === undefined) return
    this.#blocks.push(block)
    // The block has memory of its own, because the buffer is nearly full.
    if (block.buffer !== this.#bytes.buffer) this.#endBatch()
  }

  #close(): void {
    this.#endBlock()
    this.#endBatch()
  }

  #endBatch(): void {
    if (this.#count === 0) return
    this.#full.push(new FilledBuffer(this.#bytes, this.#count, this.#blocks))
    this.#bytes = this.#spare.next()
    this.#encoder.use(this.#bytes)
    this.#blocks = []
    this.#count = this.#turns = 0
  }
}

/** Splits rows in two, in order to find the record that the database refuses. */
export function halvesOf({ parts }: CallRows): readonly [CallRows, CallRows] {
  const records = parts.flatMap((part) => recordsOf(part))
  const middle = Math.ceil(records.length / 2)
  return [rowsOf(records.slice(0, middle)), rowsOf(records.slice(middle))]
}

/** Converts records into rows all at once, without a `CallRowsBuffer`. */
export function rowsOf(calls: readonly CallRecord[]): CallRows {
  if (calls.length === 0) return noCallRows
  const writer = new RowWriter()
  const rows = calls.map((call) => writer.rowOf(call))
  return { count: calls.length, parts: [`[${rows.join(',')}]`] }
}
