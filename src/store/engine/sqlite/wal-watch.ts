import { watch, type FSWatcher } from 'node:fs'

/**
 * Milliseconds after a write to the log at which to check for its commit, while another process is writing: the fsync
 * and the index update that complete a commit trigger no event.
 */
const stepsMs = [0, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Reports when another process may have committed to a SQLite database, by watching its write-ahead log. */
export class SqliteWalWatch {
  /** Whether the watch has broken, so that only polling notices commits. */
  isBroken = false
  readonly #watcher: FSWatcher
  readonly #onHint: () => void
  readonly #isBeingWritten: () => boolean
  #timer: NodeJS.Timeout | undefined
  #step = 0

  /**
   * Throws if the file system can't be watched. `isBeingWritten` says whether another process has a write transaction
   * open, whose commit may not be visible yet.
   */
  constructor(databasePath: string, onHint: () => void, isBeingWritten: () => boolean) {
    this.#onHint = onHint
    this.#isBeingWritten = isBeingWritten
    this.#watcher = watch(`${databasePath}-wal`, { persistent: false }, () => this.#written())
    this.#watcher.on('error', () => {
      this.isBroken = true
      this.close()
      onHint()
    })
  }

  close(): void {
    this.#watcher.close()
    clearTimeout(this.#timer)
  }

  #written(): void {
    // A commit consists of several writes; an early check that is already pending covers all of them.
    if (this.#timer !== undefined && this.#step <= 1) return
    this.#step = 0
    clearTimeout(this.#timer)
    this.#ask()
  }

  #ask(): void {
    // This is asked before the hint is given, so that a commit that ends in between is not missed.
    const isBeingWritten = this.#isBeingWritten()
    this.#onHint()
    const before = stepsMs[this.#step] ?? 0
    const next = isBeingWritten ? stepsMs[++this.#step] : undefined
    this.#timer =
      next === undefined ? undefined : setTimeout(() => this.#ask(), next - before).unref()
  }
}
