import type Database from 'better-sqlite3'

/** Gives a file's queries `fold_case`, for text of any language: SQLite's own `lower` changes ASCII letters only. */
export function addFoldCase(file: Database.Database): void {
  file.function('fold_case', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
}
