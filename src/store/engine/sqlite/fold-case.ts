import type Database from 'better-sqlite3'

/**
 * Defines the SQL function `fold_case` on a connection. It lowercases text of any language, whereas SQLite's own
 * `lower` changes ASCII letters only.
 */
export function addFoldCase(file: Database.Database): void {
  file.function('fold_case', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
}
