import type Database from 'better-sqlite3'
import { insertRowText } from '../../tables/calls/call-rows.ts'

/** The thread's reply to a batch. */
export interface CallsWritten {
  readonly error?: string
  readonly code?: string | undefined
}

/**
 * Adds rows in one commit. Parsing here and binding row by row takes a third less time than SQLite's own JSON
 * functions.
 */
export function rowInserter(database: Database.Database): (json: string) => void {
  const insert = database.prepare(insertRowText)
  const inserting = database.transaction((json: string) => {
    for (const row of JSON.parse(json) as unknown[][]) insert.run(row)
  })
  return (json) => inserting.immediate(json)
}
