import type Database from 'better-sqlite3'
import {
  commonPositions,
  insertAlikeText,
  insertBoundText,
  rarePositions,
  unpacked,
  usualPositions,
  type PackedRow,
} from '../../tables/calls/call-rows.ts'
import { addRowText, type CountRows, type CountTable } from '../../tables/calls/count-rows.ts'

/** A batch for one commit: call records as a JSON array of rows, in a string or as ASCII bytes, and counts. */
export interface CallBatch {
  readonly rows: string | Uint8Array
  readonly counts: readonly CountRows[]
}

/** The thread's reply to a batch: empty if it was committed. */
export interface CallsWritten {
  readonly error?: string
  readonly code?: string | undefined
}

/** Starting a statement costs a tenth as much as inserting a row, so this many rows share one statement. */
const rowsAtOnce = 16

/**
 * Returns a function that adds a batch in one commit, and calls `between` after each statement that inserts several
 * call records. Parsing the rows here and binding each value takes a third less time than SQLite's own JSON functions.
 */
export function batchInserter(
  database: Database.Database,
  between?: () => void,
): (batch: CallBatch) => void {
  const rowsInserter = new RowsInserter(database, between)
  const counting = new Map<CountTable, Database.Statement>()
  const adderTo = (table: CountTable): Database.Statement => {
    const known = counting.get(table) ?? database.prepare(addRowText(table))
    counting.set(table, known)
    return known
  }
  const inserting = database.transaction((batch: CallBatch) => {
    const rows = JSON.parse(textOf(batch.rows)) as PackedRow[]
    // If every record exists already, an earlier try was committed, and only its reply was lost.
    if (rows.length > 0 && rowsInserter.insert(rows) === 0) return
    for (const { table, json } of batch.counts) {
      const adder = adderTo(table)
      for (const row of JSON.parse(json) as unknown[][]) adder.run(row)
    }
  })
  return (batch) => inserting.immediate(batch)
}

/**
 * Inserts rows, 16 in a statement where possible. For packed rows, such a statement binds the common part only once,
 * because binding takes most of a row's time.
 */
class RowsInserter {
  readonly #one: Database.Statement
  readonly #some: Database.Statement
  readonly #usual: Database.Statement
  readonly #alike: Database.Statement
  readonly #between: (() => void) | undefined

  constructor(database: Database.Database, between: (() => void) | undefined) {
    this.#one = database.prepare(insertBoundText(1))
    this.#some = database.prepare(insertBoundText(rowsAtOnce))
    this.#usual = database.prepare(insertBoundText(rowsAtOnce, usualPositions))
    this.#alike = database.prepare(insertAlikeText(rowsAtOnce))
    this.#between = between
  }

  /** Returns how many rows were inserted; the others existed already. */
  insert(rows: readonly PackedRow[]): number {
    const { single, alike } = sortRows(rows)
    let inserted = 0
    for (const { first, others } of alike) {
      const common = commonPositions.map((at) => first[at])
      let at = 0
      for (; at + rowsAtOnce <= others.length; at += rowsAtOnce) {
        const own = others.slice(at, at + rowsAtOnce).flatMap(ownValues)
        inserted += this.#alike.run([...common, ...own]).changes
        this.#between?.()
      }
      for (; at < others.length; at++) single.push(unpacked(others[at] ?? [], first))
    }
    return inserted + this.#insertSingle(single)
  }

  #insertSingle(rows: readonly (readonly unknown[])[]): number {
    let [at, inserted] = [0, 0]
    for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
      const some = rows.slice(at, at + rowsAtOnce)
      inserted += some.every(isUsual)
        ? this.#usual.run(some.flatMap(usualValues)).changes
        : this.#some.run(some.flat()).changes
      this.#between?.()
    }
    for (; at < rows.length; at++) inserted += this.#one.run(rows[at]).changes
    return inserted
  }
}

/** Rows with the same common part: the first one in full, and the others packed. */
interface AlikeRows {
  readonly first: readonly unknown[]
  readonly others: PackedRow[]
}

/** Groups the packed rows that refer to the same full row; `single` contains all full rows. */
function sortRows(rows: readonly PackedRow[]): {
  single: (readonly unknown[])[]
  alike: AlikeRows[]
} {
  const single: (readonly unknown[])[] = []
  const alike = new Map<unknown, AlikeRows>()
  for (const row of rows) {
    const [like] = row
    if (typeof like !== 'number') {
      single.push(row)
      continue
    }
    const group = alike.get(like)
    if (group === undefined) alike.set(like, { first: rows[like] ?? [], others: [row] })
    else group.others.push(row)
  }
  return { single, alike: [...alike.values()] }
}

function ownValues(row: PackedRow): readonly unknown[] {
  return row.slice(1)
}

function textOf(rows: string | Uint8Array): string {
  if (typeof rows === 'string') return rows
  return Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength).toString('latin1')
}

// Empty rare columns are not bound, because binding an empty value costs more than storing it.
function isUsual(row: readonly unknown[]): boolean {
  return rarePositions.every((at) => row[at] === null)
}

function usualValues(row: readonly unknown[]): unknown[] {
  return usualPositions.map((at) => row[at])
}
