import type Database from 'better-sqlite3'
import { insertBoundText } from '../../tables/calls/call-rows.ts'

/** The thread's reply to a batch. */
export interface CallsWritten {
  readonly error?: string
  readonly code?: string | undefined
}

/** Rows in one statement: starting it costs a tenth of what a row costs. */
const rowsAtOnce = 16

/**
 * Adds rows in one commit. Parsing here and binding each value takes a third less time than SQLite's own JSON
 * functions.
 */
export function rowInserter(database: Database.Database): (json: string) => void {
  const insertOne = database.prepare(insertBoundText(1))
  const insertSome = database.prepare(insertBoundText(rowsAtOnce))
  const inserting = database.transaction((json: string) => {
    const rows = JSON.parse(json) as unknown[][]
    let at = 0
    for (; at + rowsAtOnce <= rows.length; at += rowsAtOnce) {
      insertSome.run(rows.slice(at, at + rowsAtOnce).flat())
    }
    for (; at < rows.length; at++) insertOne.run(rows[at])
  })
  return (json) => inserting.immediate(json)
}
