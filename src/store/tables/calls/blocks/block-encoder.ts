import { asciiJson } from '../../../../strict-json.ts'
import { toStorable } from '../../../../storable.ts'
import type { CallRecord } from '../record/call-record.ts'
import {
  blockVersion,
  headBytes,
  idAt,
  idBytes,
  noNumber,
  placeOf,
  rowBytes,
  statusAt,
  textColumns,
  textsAt,
} from './block-format.ts'

/**
 * Encodes blocks into a buffer, one after another. A block's texts are written when it ends; a text equal to the one in
 * the row before is not looked up again.
 */
export class BlockEncoder {
  readonly #lastTexts: (string | undefined)[] = textColumns.map(() => undefined)
  readonly #lastNumbers = new Uint16Array(textColumns.length)
  #bytes: Buffer
  #view: DataView
  #start = 0
  #rows = 0
  #texts: string[] = []
  #numbers = new Map<string, number>()
  #textBytes = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  get rows(): number {
    return this.#rows
  }

  /** About how many bytes the block has so far. */
  get size(): number {
    return headBytes + this.#rows * rowBytes + this.#textBytes
  }

  /** The offset of the first free byte. */
  get #end(): number {
    return this.#rows === 0 ? this.#start : this.#start + headBytes + this.#rows * rowBytes
  }

  /** Whether another row fits into the buffer. */
  get hasRoom(): boolean {
    return this.#start + headBytes + (this.#rows + 1) * rowBytes <= this.#bytes.length
  }

  /** Continues in another buffer; must not be called within a block. */
  use(bytes: Buffer): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#start = 0
  }

  add(call: CallRecord): void {
    const at = this.#start + headBytes + this.#rows * rowBytes
    const view = this.#view
    view.setFloat64(at + placeOf.at, call.at, true)
    view.setFloat64(at + placeOf.bytes_in, call.bytesIn, true)
    view.setFloat64(at + placeOf.bytes_out, call.bytesOut, true)
    view.setFloat64(at + placeOf.duration_us, call.durationUs, true)
    view.setFloat64(at + placeOf.upstream_us, call.upstreamUs ?? noNumber, true)
    view.setUint16(at + statusAt, call.status, true)
    this.#addText(at, 0, call.organizationId)
    this.#addText(at, 1, call.keyId)
    this.#addText(at, 2, call.targetId)
    this.#addText(at, 3, call.method)
    this.#addText(at, 4, call.path)
    this.#addText(at, 5, call.refusal)
    this.#addText(at, 6, call.stoppedAt)
    this.#addText(at, 7, call.ruleId)
    this.#addText(at, 8, call.trialRuleId)
    this.#addText(at, 9, call.address)
    this.#addText(at, 10, call.agent)
    this.#addText(at, 11, call.capture)
    this.#addId(at + idAt, call.id)
    this.#rows++
  }

  /** Ends the block and returns its bytes; undefined if it has no rows. The next row begins another block. */
  endBlock(): Buffer | undefined {
    if (this.#rows === 0) return undefined
    const start = this.#start
    const textsStart = this.#end
    this.#view.setUint16(start, blockVersion, true)
    this.#view.setUint16(start + 2, this.#rows, true)
    this.#view.setUint32(start + 4, 0, true)
    const texts = asciiJson(this.#texts)
    const block = this.#withTexts(textsStart, texts)
    this.#rows = 0
    this.#texts = []
    // Not cleared: a Map that is cleared replaces its table, and V8 keeps the
    // texts of an old table until a full collection.
    this.#numbers = new Map()
    this.#textBytes = 0
    this.#lastTexts.fill(undefined)
    this.#lastNumbers.fill(0)
    return block
  }

  /** Adds the texts behind the rows if they fit into the buffer; otherwise copies the rows into memory of their own. */
  #withTexts(textsStart: number, texts: string): Buffer {
    const end = textsStart + texts.length
    if (end <= this.#bytes.length) {
      this.#bytes.write(texts, textsStart, 'latin1')
      const block = this.#bytes.subarray(this.#start, end)
      this.#start = end
      return block
    }
    const own = Buffer.allocUnsafe(end - this.#start)
    this.#bytes.copy(own, 0, this.#start, textsStart)
    own.write(texts, textsStart - this.#start, 'latin1')
    return own
  }

  #addText(at: number, column: number, text: string | undefined): void {
    if (text !== this.#lastTexts[column]) {
      this.#lastTexts[column] = text
      this.#lastNumbers[column] = text === undefined ? 0 : this.#numberOf(text)
    }
    this.#view.setUint16(at + textsAt + 2 * column, this.#lastNumbers[column] ?? 0, true)
  }

  #numberOf(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const number = this.#texts.push(toStorable(text))
    this.#numbers.set(text, number)
    this.#textBytes += text.length
    return number
  }

  #addId(at: number, id: string): void {
    const length = Math.min(id.length, idBytes)
    for (let index = 0; index < length; index++) this.#bytes[at + index] = id.charCodeAt(index)
    for (let index = length; index < idBytes; index++) this.#bytes[at + index] = 0
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length)
}
