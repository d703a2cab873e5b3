import type { CallColumn, CallValues } from '../record/call-columns.ts'
import {
  idRangeOf,
  recordedPrefix,
  type CallFilter,
  type CallSlice,
} from '../record/call-filter.ts'
import type { TextColumn } from './block-format.ts'
import { BlockReader } from './block-reader.ts'

export interface BlockFilter extends CallFilter, CallSlice {
  /** Only calls that no check stopped, or that one of these checks did. */
  readonly stoppedIn?: readonly string[] | undefined
}

/** The calls to take from blocks, and the columns of theirs to return. */
export interface BlockQuestion {
  readonly filter: BlockFilter
  /** The first column must be the id. */
  readonly columns: readonly ['id', ...CallColumn[]]
  /** The most rows to return, the newest ones; all by default. */
  readonly limit?: number | undefined
}

/** Tests one row of the block for which it was made. */
type RowTest = (row: number) => boolean

/** Takes the rows that match a question from blocks, one block after the other. */
export class BlockMatcher {
  readonly #filter: BlockFilter
  readonly #columns: readonly CallColumn[]
  readonly #limit: number
  readonly #texts: readonly (readonly [TextColumn, string])[]
  #found: CallValues[] = []

  constructor({ filter, columns, limit = Infinity }: BlockQuestion) {
    this.#filter = filter
    this.#limit = limit
    this.#columns = columns
    const { keyId, targetId, stoppedAt, method, address } = filter
    const texts: Partial<Record<TextColumn, string | undefined>> = {
      ...{ key_id: keyId, target_id: targetId, stopped_at: stoppedAt, method, address },
    }
    this.#texts = (Object.entries(texts) as [TextColumn, string | undefined][]).flatMap(
      ([column, text]) => (text === undefined ? [] : [[column, text] as const]),
    )
  }

  add(block: Uint8Array): void {
    const reader = new BlockReader(block)
    const tests = this.#testsOf(reader)
    if (tests === undefined) return
    let rows: number[] = []
    for (let row = 0; row < reader.rows; row++) if (passes(tests, row)) rows.push(row)
    if (rows.length > this.#limit) {
      rows = rows.sort((one, other) => reader.compareRows(other, one)).slice(0, this.#limit)
    }
    for (const row of rows) this.#found.push(reader.values(row, this.#columns))
    // Rows may have large captures, so those that are certainly not wanted are let go meanwhile.
    if (this.#found.length > 2 * this.#limit) this.#found = this.newest()
  }

  /** Returns the rows, newest first. */
  newest(): CallValues[] {
    const sorted = this.#found.sort(([a], [b]) => (String(a) < String(b) ? 1 : -1))
    return sorted.slice(0, this.#limit)
  }

  /** Returns the tests of a block's rows, cheapest first; undefined if no row of the block can match. */
  #testsOf(reader: BlockReader): RowTest[] | undefined {
    const tests: RowTest[] = []
    if (!this.#texts.every(([, text]) => reader.mayHave(text))) return undefined
    for (const [column, text] of this.#texts) {
      const number = reader.texts.indexOf(text) + 1
      if (number === 0) return undefined
      tests.push((row) => reader.textNumber(row, column) === number)
    }
    return [
      ...tests,
      ...numberTests(reader, this.#filter),
      ...stopTests(reader, this.#filter),
      ...idTests(reader, this.#filter),
      ...pathTests(reader, this.#filter),
    ]
  }
}

function passes(tests: readonly RowTest[], row: number): boolean {
  for (let at = 0; at < tests.length; at++) if (tests[at]?.(row) === false) return false
  return true
}

function numberTests(reader: BlockReader, filter: BlockFilter): RowTest[] {
  const { statuses, from, to, endedFrom } = filter
  const tests: RowTest[] = []
  if (statuses !== undefined) {
    const [least, behind] = statuses
    tests.push((row) => reader.status(row) >= least && reader.status(row) < behind)
  }
  if (from !== undefined) tests.push((row) => reader.number(row, 'at') >= from)
  if (to !== undefined) tests.push((row) => reader.number(row, 'at') < to)
  if (endedFrom !== undefined) {
    const endOf = (row: number): number =>
      reader.number(row, 'at') + Math.floor(reader.number(row, 'duration_us') / 1000)
    tests.push((row) => endOf(row) >= endedFrom)
  }
  return tests
}

function stopTests(reader: BlockReader, { stoppedIn, outcome }: BlockFilter): RowTest[] {
  const tests: RowTest[] = []
  const stopOf = (row: number): number => reader.textNumber(row, 'stopped_at')
  if (stoppedIn !== undefined) {
    const numbers = new Set(stoppedIn.map((check) => reader.texts.indexOf(check) + 1))
    tests.push((row) => stopOf(row) === 0 || numbers.has(stopOf(row)))
  }
  if (outcome !== undefined) {
    const forward = reader.texts.indexOf('forward') + 1
    const isError = (row: number): boolean =>
      stopOf(row) === 0 ? reader.status(row) >= 500 : stopOf(row) === forward
    tests.push((row) => {
      if (outcome === 'upstream_error') return isError(row)
      return !isError(row) && (stopOf(row) === 0) === (outcome === 'answered')
    })
  }
  return tests
}

function idTests(reader: BlockReader, filter: BlockFilter): RowTest[] {
  const { after, first, behind } = idRangeOf(filter)
  const tests: RowTest[] = []
  const compareWith = (id: string, isWanted: (difference: number) => boolean): void => {
    const bytes = Buffer.from(id, 'latin1')
    tests.push((row) => isWanted(reader.compareId(row, bytes)))
  }
  if (filter.id !== undefined) compareWith(filter.id, (difference) => difference === 0)
  if (after !== undefined) compareWith(after, (difference) => difference > 0)
  if (first !== undefined) compareWith(first, (difference) => difference >= 0)
  if (behind !== undefined) compareWith(behind, (difference) => difference < 0)
  return tests
}

function pathTests(reader: BlockReader, { path, words }: BlockFilter): RowTest[] {
  const tests: RowTest[] = []
  if (path !== undefined) {
    const matchesPath = oncePerText(reader, (text) => text.startsWith(path))
    tests.push((row) => matchesPath(reader.textNumber(row, 'path')))
  }
  if (words !== undefined) {
    const text = words.text.toLowerCase()
    const keys = new Set(words.keyIds.map((keyId) => reader.texts.indexOf(keyId) + 1))
    const contains = oncePerText(reader, (whole) =>
      whole.slice(recordedPrefix.length).toLowerCase().includes(text),
    )
    tests.push(
      (row) =>
        keys.has(reader.textNumber(row, 'key_id')) || contains(reader.textNumber(row, 'path')),
    )
  }
  return tests
}

/** Tests each text of a block at most once. */
function oncePerText(reader: BlockReader, test: (text: string) => boolean) {
  const known: (boolean | undefined)[] = []
  return (number: number): boolean => (known[number] ??= test(reader.text(number) ?? ''))
}
