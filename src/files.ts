import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a folder and its missing parents, accessible only to their owner. Under an existing folder that accepts no
 * children, such as /proc, Node's `recursive` option loops forever; this function throws the operating system's error.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  const above = dirname(path)
  if (above !== path) makeFolder(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another of our processes created the folder first.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * Gives a finished file its final name, so that both the contents and the name survive a power failure. Throws if a
 * file with that name already exists.
 */
export function finishFile(unfinished: string, place: string): void {
  syncToDisk(unfinished)
  try {
    // Unlike a rename, a link overwrites nothing: a node may have created a database here in the meantime.
    linkSync(unfinished, place)
    rmSync(unfinished)
  } catch (error) {
    if (existsSync(place)) throw isThere(place)
    const { code = '' } = error as NodeJS.ErrnoException
    if (!withoutLinks.has(code)) throw error
    renameSync(unfinished, place)
  }
  syncToDisk(dirname(place))
}

/** Error codes of file systems without hard links, such as FAT. */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

/** Returns the error for a file that nothing may overwrite. */
export function isThere(path: string): Error {
  return new Error(`${path} exists already; move it away first, for nothing is overwritten.`)
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}
