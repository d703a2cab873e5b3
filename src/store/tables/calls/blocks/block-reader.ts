import { isPlainInJson } from '../../../../strict-json.ts'
import type { CallColumn, CallValues } from '../record/call-columns.ts'
import {
  blockVersion,
  headBytes,
  idAt,
  idBytes,
  noNumber,
  placeOf,
  rowBytes,
  statusAt,
  type NumberColumn,
  type TextColumn,
} from './block-format.ts'

/** Reads one block. Rows are numbered from 0, and texts as in the block. */
export class BlockReader {
  readonly rows: number
  readonly #bytes: Buffer
  readonly #view: DataView
  #texts: readonly string[] | undefined

  /** Throws if the bytes are not a block of this version. */
  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
    this.#view = new DataView(buffer, byteOffset, byteLength)
    this.rows = this.#view.getUint16(2, true)
    if (this.#view.getUint16(0, true) !== blockVersion) throw new Error('an unknown block of calls')
  }

  number(row: number, column: NumberColumn): number {
    return this.#view.getFloat64(headBytes + row * rowBytes + placeOf[column], true)
  }

  status(row: number): number {
    return this.#view.getUint16(headBytes + row * rowBytes + statusAt, true)
  }

  /** The number of the row's text in a column; 0 for none. */
  textNumber(row: number, column: TextColumn): number {
    return this.#view.getUint16(headBytes + row * rowBytes + placeOf[column], true)
  }

  /** The text with this number; undefined for 0. */
  text(number: number): string | undefined {
    return this.texts[number - 1]
  }

  /** Returns false if the block certainly lacks the text; does not parse its texts. */
  mayHave(text: string): boolean {
    // Other texts are escaped in JSON, so their bytes cannot be searched for.
    if (!isPlainInJson(text)) return true
    return this.#bytes.includes(`"${text}"`, headBytes + this.rows * rowBytes, 'latin1')
  }

  get texts(): readonly string[] {
    this.#texts ??= JSON.parse(
      this.#bytes.toString('latin1', headBytes + this.rows * rowBytes),
    ) as string[]
    return this.#texts
  }

  id(row: number): string {
    const at = headBytes + row * rowBytes + idAt
    let end = at + idBytes
    while (this.#bytes[end - 1] === 0) end--
    return this.#bytes.toString('latin1', at, end)
  }

  /** Compares the row's id with another one, given as bytes: negative if it is smaller, 0 if they are the same. */
  compareId(row: number, other: Uint8Array): number {
    const at = headBytes + row * rowBytes + idAt
    for (let index = 0; index < idBytes; index++) {
      const difference = (this.#bytes[at + index] ?? 0) - (other[index] ?? 0)
      if (difference !== 0) return difference
    }
    return other.length > idBytes ? -1 : 0
  }

  /** Compares the ids of two rows. */
  compareRows(one: number, other: number): number {
    const at = headBytes + other * rowBytes + idAt
    return this.compareId(one, this.#bytes.subarray(at, at + idBytes))
  }

  #value(row: number, column: CallColumn): string | number | null {
    switch (column) {
      case 'id':
        return this.id(row)
      case 'status':
        return this.status(row)
      case 'upstream_us': {
        const us = this.number(row, column)
        return us === noNumber ? null : us
      }
      case 'at':
      case 'bytes_in':
      case 'bytes_out':
      case 'duration_us':
        return this.number(row, column)
      default:
        return this.text(this.textNumber(row, column)) ?? null
    }
  }

  /** Returns the row's values in some columns. */
  values(row: number, columns: readonly CallColumn[]): CallValues {
    const values: (string | number | null)[] = []
    for (let at = 0; at < columns.length; at++) {
      values.push(this.#value(row, columns[at] as CallColumn))
    }
    return values
  }
}
