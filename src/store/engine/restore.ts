import Database from 'better-sqlite3'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../folder.ts'

const noticedWithinMs = 1100

/**
 * Restores a backup if no database exists yet. Throws a readable error if one exists, or if the file is not a complete
 * backup of ours.
 */
export async function restoreBackup(file: string, folder: string): Promise<void> {
  const place = join(folder, 'intercept.db')
  for (const there of [place, `${place}-wal`, `${place}-shm`]) {
    // A leftover write-ahead log would be applied to the restored database.
    if (existsSync(there)) throw isThere(there)
  }
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`)
  refuseWithoutItsLog(file)
  makeFolder(folder)
  const unfinished = `${place}.restoring`
  try {
    copyFileSync(file, unfinished)
    chmodSync(unfinished, 0o600)
    // Only a copy that was read completely gets the database's name.
    checkBackup(unfinished, file)
    finishFile(unfinished, place)
    // Gives a node that still runs on this folder time to notice the restored database, or to stop trusting its caches.
    await new Promise((resolve) => setTimeout(resolve, noticedWithinMs))
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${unfinished}${end}`, { force: true })
  }
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

function isThere(path: string): Error {
  return new Error(`${path} exists already; move it away first, for nothing is overwritten.`)
}

/**
 * Refuses a database file whose last changes are still in the write-ahead log beside it, because they would be lost.
 */
function refuseWithoutItsLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0) return
  throw new Error(
    `${file}-wal holds changes that ${file} does not have yet: this is no backup, and restored alone it would lose them. Move both files to DATA_DIR instead.`,
  )
}

function syncToDisk(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function checkBackup(copy: string, name: string): void {
  let database
  try {
    database = new Database(copy)
    const found = database.pragma('integrity_check', { simple: true })
    if (found !== 'ok') throw new Error('it is damaged')
    const tables = database
      .prepare("select count(*) from sqlite_schema where name in ('migration', 'organization')")
      .pluck()
      .get()
    if (tables !== 2) throw new Error('it is a database of something else')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${name} is not a backup of Intercept: ${reason}.`, { cause: error })
  } finally {
    database?.close()
  }
}
