import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { SqliteWalWatch } from './wal-watch.ts'

/**
 * Milliseconds between the feed's checks for other processes' commits, with and without a watch on the write-ahead log.
 */
const pollMsWatched = 250
const pollMsUnwatched = 5

/** Notices other processes' commits by watching the file's write-ahead log and by SQLite's `data_version`. */
export class ForeignCommits {
  readonly #path: string
  readonly #writer: Db
  #watch: SqliteWalWatch | undefined
  #hint: (() => void) | undefined
  #lastVersion: unknown

  private constructor(path: string, writer: Db) {
    this.#path = path
    this.#writer = writer
  }

  static async start(path: string, writer: Db): Promise<ForeignCommits> {
    const commits = new ForeignCommits(path, writer)
    commits.#lastVersion = await commits.#version()
    return commits
  }

  get pollMs(): number {
    return this.#watch === undefined ? pollMsUnwatched : pollMsWatched
  }

  listen(hint: () => void): void {
    this.#hint = hint
    this.#watchLog()
  }

  /** Whether another connection has committed since the last check. */
  async look(): Promise<boolean> {
    const version = await this.#version()
    if (version === this.#lastVersion) return false
    this.#lastVersion = version
    return true
  }

  /** Called when the file was replaced, to watch the new file's log. */
  follow(): void {
    if (this.#watch !== undefined) this.#watchLog()
  }

  close(): void {
    this.#watch?.close()
  }

  #watchLog(): void {
    this.#watch?.close()
    try {
      this.#watch = new SqliteWalWatch(this.#path, () => this.#hint?.())
    } catch {
      // Some file systems can't be watched; frequent polling costs little more than one percent of a core.
      this.#watch = undefined
    }
  }

  async #version(): Promise<unknown> {
    const query = sql<{ data_version: number }>`pragma data_version`
    return (await query.execute(this.#writer.query)).rows[0]?.data_version
  }
}
