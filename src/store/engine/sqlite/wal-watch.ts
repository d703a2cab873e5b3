import { watch, type FSWatcher } from 'node:fs'

/**
 * Milliseconds after a write to the log at which to check for a commit. The fsync and the index update that follow the
 * write trigger no event. The intervals grow, so that a commit that takes longer to become visible is still noticed
 * within about twice that time.
 */
const stepsMs = [0, 2, 4, 8, 16, 32, 64, 128]

/** Reports when another process may have committed to a SQLite database, by watching its write-ahead log. */
export class SqliteWalWatch {
  readonly #watcher: FSWatcher
  readonly #onHint: () => void
  #timer: NodeJS.Timeout | undefined
  #step = 0

  /** Throws if the file system can't be watched. */
  constructor(databasePath: string, onHint: () => void) {
    this.#onHint = onHint
    this.#watcher = watch(`${databasePath}-wal`, { persistent: false }, () => this.#written())
    // If the watch breaks, polling continues.
    this.#watcher.on('error', () => this.close())
  }

  close(): void {
    this.#watcher.close()
    clearTimeout(this.#timer)
  }

  #written(): void {
    // One commit is several writes; a pending early check covers all of them.
    if (this.#timer !== undefined && this.#step <= 1) return
    this.#step = 0
    clearTimeout(this.#timer)
    this.#ask()
  }

  #ask(): void {
    this.#onHint()
    const before = stepsMs[this.#step] ?? 0
    const next = stepsMs[++this.#step]
    this.#timer =
      next === undefined ? undefined : setTimeout(() => this.#ask(), next - before).unref()
  }
}
