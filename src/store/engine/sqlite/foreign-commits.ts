import type Database from 'better-sqlite3'
import { idleTurnMs } from '../../../timers.ts'
import type { FeedPace } from '../../feed/feed-polls.ts'
import { busyTimeoutMs } from './file.ts'
import { SqliteWalWatch } from './wal-watch.ts'

/**
 * How often the feed checks for other processes' commits: while the write-ahead log is watched, after the watch broke,
 * and where the log can't be watched.
 */
const watched: FeedPace = { pollMs: 250, idlePollMs: 800, restPollMs: idleTurnMs }
const broken: FeedPace = { pollMs: 250, idlePollMs: 800 }
const unwatched: FeedPace = { pollMs: 5, idlePollMs: 5 }

/** Notices other processes' commits by watching the file's write-ahead log and by SQLite's `data_version`. */
export class ForeignCommits {
  readonly #path: string
  readonly #writer: () => Database.Database
  #watch: SqliteWalWatch | undefined
  #hint: (() => void) | undefined
  #version: Database.Statement | undefined
  #lastVersion: unknown

  /** `writer` returns the connection for writes, which is a new one after the file was replaced. */
  constructor(path: string, writer: () => Database.Database) {
    this.#path = path
    this.#writer = writer
    this.#lastVersion = this.#readVersion()
  }

  get pace(): FeedPace {
    if (this.#watch === undefined) return unwatched
    return this.#watch.isBroken ? broken : watched
  }

  listen(hint: () => void): void {
    this.#hint = hint
    this.#watchLog()
  }

  /** Whether another connection has committed since the last check. */
  look(): boolean {
    const version = this.#readVersion()
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
      const hint = (): void => this.#hint?.()
      this.#watch = new SqliteWalWatch(this.#path, hint, () => this.#isBeingWritten())
    } catch {
      // Some file systems can't be watched; frequent polling costs little more than one percent of a core.
      this.#watch = undefined
    }
  }

  /**
   * Whether another process holds the lock for writing, which it takes before it writes to the log and keeps until its
   * commit is visible.
   */
  #isBeingWritten(): boolean {
    try {
      const writer = this.#writer()
      // Our own transaction keeps the others out.
      return !writer.inTransaction && !isFree(writer)
    } catch {
      return true
    }
  }

  #readVersion(): unknown {
    const writer = this.#writer()
    if (this.#version?.database !== writer) {
      this.#version = writer.prepare('pragma data_version').pluck()
    }
    return this.#version.get()
  }
}

/** Whether the lock for writing is free: takes the lock without waiting for it, and releases it at once. */
function isFree(writer: Database.Database): boolean {
  writer.pragma('busy_timeout = 0')
  try {
    writer.exec('begin immediate')
    writer.exec('rollback')
    return true
  } catch {
    return false
  } finally {
    writer.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }
}
