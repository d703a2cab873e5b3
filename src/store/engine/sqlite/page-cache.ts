import type Database from 'better-sqlite3'

// A node has eight connections. With the driver's 16 MB for each, their caches would outgrow the rest of the node.
const megabytes = {
  /** For calls and writes: the pages that they use again and again stay in memory. */
  lasting: 8,
  /** For scans of many rows, each read once: the operating system's cache serves these just as well. */
  passing: 2,
}

/** Bounds the memory in which a connection keeps pages of its file; a large transaction spills to the log. */
export function boundPageCache(file: Database.Database, use: keyof typeof megabytes): void {
  // A negative size is in KiB, a positive one would be in pages.
  file.pragma(`cache_size = ${-1024 * megabytes[use]}`)
}
