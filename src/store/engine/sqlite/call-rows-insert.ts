import type Database from 'better-sqlite3'
import { insertRowText } from '../../tables/calls/call-rows.ts'

/** What the thread answers to a batch. */
export interface CallsWritten {
  readonly error?: string
  readonly code?: string | undefined
}

/** Adds rows in one commit: read here and bound one by one, which takes two thirds of what SQLite's own JSON takes. */
export function rowInserter(database: Database.Database): (json: string) => void {
  const insert = database.prepare(insertRowText)
  const inserting = database.transaction((json: string) => {
    for (const row of JSON.parse(json) as unknown[][]) insert.run(row)
  })
  return (json) => inserting.immediate(json)
}
