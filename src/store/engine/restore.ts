import Database from 'better-sqlite3'
import { chmodSync, copyFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { finishFile, isThere, makeFolder } from '../../files.ts'

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
 * Refuses a database file whose last changes are still in the write-ahead log beside it, because they would be lost.
 */
function refuseWithoutItsLog(file: string): void {
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0) return
  throw new Error(
    `${file}-wal holds changes that ${file} does not have yet: this is no backup, and restored alone it would lose them. Move both files to DATA_DIR instead.`,
  )
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
