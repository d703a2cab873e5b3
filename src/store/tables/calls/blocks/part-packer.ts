import { timeOfId } from '../../../../ids.ts'
import { maxBlockBytes, maxBlockRows, maxNewSpanMs, type BlockFacts } from './call-block.ts'
import type { CallRecord } from '../record/call-record.ts'
import { isAlike, packedRowOf, RowWriter } from './row-writer.ts'

/** Writes the rows of one part of a batch after the other, and notes the facts that the part's block will need. */
export interface PartPacker {
  /** Whether the part is full, so that the next row begins another one. */
  isFull(rows: number, bytes: number): boolean
  /** Writes a record as the part's row with this index. */
  rowOf(call: CallRecord, index: number): string
  /** Ends the part; returns the facts of its block, or undefined if its rows are not one block. */
  end(): BlockFacts | undefined
}

/** Writes full rows, in one part for each batch. */
export class FullRows implements PartPacker {
  readonly #writer = new RowWriter()

  isFull(): boolean {
    return false
  }

  rowOf(call: CallRecord): string {
    return this.#writer.rowOf(call)
  }

  end(): undefined {
    this.#writer.reset()
  }
}

interface KeyRows {
  /** The key's last row that was not packed, and its index in the part. */
  call: CallRecord
  index: number
  count: number
}

/**
 * Packs rows for SQLite: a row refers to its key's last full row in the part if both have the same values in the common
 * columns and no capture.
 */
export class PackedRows implements PartPacker {
  readonly #writer = new RowWriter()
  #keys = new Map<string, KeyRows>()
  #organizationId = ''
  #firstId = ''
  #lastId = ''
  #calls = 0
  #failed = 0
  #isOfSeveral = false

  isFull(rows: number, bytes: number): boolean {
    return rows >= maxBlockRows || bytes >= maxBlockBytes
  }

  rowOf(call: CallRecord, index: number): string {
    this.#note(call)
    const rows = this.#keys.get(call.keyId)
    if (rows !== undefined) {
      rows.count++
      if (isAlike(rows.call, call)) return packedRowOf(call, rows.index)
      rows.call = call
      rows.index = index
    } else {
      this.#keys.set(call.keyId, { call, index, count: 1 })
    }
    return this.#writer.rowOf(call)
  }

  end(): BlockFacts | undefined {
    const facts = this.#facts()
    this.#writer.reset()
    // Not cleared: a Map that is cleared replaces its table, and the collector keeps the rows of an old table for long.
    this.#keys = new Map()
    this.#calls = this.#failed = 0
    this.#isOfSeveral = false
    return facts
  }

  #note({ id, organizationId, status }: CallRecord): void {
    if (this.#calls === 0) {
      this.#organizationId = organizationId
      this.#firstId = this.#lastId = id
    }
    this.#calls++
    if (status >= 500) this.#failed++
    if (organizationId !== this.#organizationId) this.#isOfSeveral = true
    if (id < this.#firstId) this.#firstId = id
    else if (id > this.#lastId) this.#lastId = id
  }

  #facts(): BlockFacts | undefined {
    if (this.#calls === 0 || this.#isOfSeveral) return undefined
    const [firstId, lastId] = [this.#firstId, this.#lastId]
    if (timeOfId(lastId) - timeOfId(firstId) > maxNewSpanMs) return undefined
    return {
      organizationId: this.#organizationId,
      ...{ firstId, lastId, calls: this.#calls, failed: this.#failed },
      keys: [...this.#keys].map(([keyId, { count }]) => [keyId, count] as const),
    }
  }
}
