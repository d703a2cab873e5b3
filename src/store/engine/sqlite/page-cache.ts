import type Database from 'better-sqlite3'

// A node opens up to eight connections. With the driver's 16 MB for each, their caches would outgrow the rest of the
// node.
const megabytes = {
  /**
   * For connections that serve calls and writes: they use the same pages again and again, which should stay in memory.
   */
  lasting: 8,
  /** For connections that scan many pages once: the operating system's cache serves such scans just as well. */
  passing: 2,
}

/** Bounds the memory that a connection uses for pages of its file. */
export function boundPageCache(file: Database.Database, use: keyof typeof megabytes): void {
  // A negative size is in KiB, a positive one would be in pages.
  file.pragma(`cache_size = ${-1024 * megabytes[use]}`)
}
