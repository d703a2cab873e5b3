import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { migratePostgres } from '../../src/store/engine/postgres/migrate-postgres.ts'
import { migrationFiles } from '../../src/store/engine/migrate.ts'
import { cacheFolder } from './cache-folder.ts'

/** Test databases with tables are copies of this database, which has only the rows that the migrations insert. */
export const migratedDatabase = 'migrated'

const start = 'intercept-pg-data-'
const unusedForMs = 86_400_000

/**
 * Returns the folder of a migrated cluster for test processes to copy, because creating and migrating one takes longer
 * than most tests that use it. Later test runs use it again until the migrations change.
 */
export async function preparedData(
  native: string,
  owner: { readonly uid?: number; readonly gid?: number },
): Promise<string> {
  const prepared = join(cacheFolder, start + keyOf(native, owner.uid))
  if (!existsSync(prepared)) await prepareAt(prepared, native, owner)
  utimesSync(prepared, new Date(), new Date())
  return prepared
}

function keyOf(native: string, uid = process.getuid?.()): string {
  const hash = createHash('sha256').update(
    `${uid} ${statSync(join(native, 'bin', 'postgres')).size}`,
  )
  const engine = join(import.meta.dirname, '..', '..', 'src', 'store', 'engine')
  const files = [
    ...migrationFiles('postgres'),
    ...[join(engine, 'migrate.ts'), join(engine, 'postgres', 'migrate-postgres.ts')],
  ]
  for (const file of files) hash.update(file).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

/** Prepares the cluster in another folder and renames it, so that no concurrent test run sees half a cluster. */
async function prepareAt(
  prepared: string,
  native: string,
  owner: { readonly uid?: number; readonly gid?: number },
): Promise<void> {
  removeUnused()
  const aside = mkdtempSync(join(cacheFolder, 'intercept-pg-new-'))
  if (owner.uid !== undefined) chownSync(aside, owner.uid, owner.gid ?? owner.uid)
  try {
    const data = join(aside, 'data')
    const environment = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...owner }
    const options = '-U postgres -A trust --locale=C -E UTF8 --no-sync --wal-segsize=1'.split(' ')
    const made = spawnSync(join(native, 'bin', 'initdb'), ['-D', data, ...options], environment)
    if (made.status !== 0) throw new Error(`initdb: ${String(made.stderr)}`)
    const words = ['-D', data, '-k', aside, '-c', 'listen_addresses=', '-c', 'fsync=off']
    const server = spawn(join(native, 'bin', 'postgres'), words, {
      ...environment,
      stdio: 'ignore',
    })
    const ended = once(server, 'exit')
    try {
      await migrateIn(aside)
    } finally {
      server.kill('SIGINT')
      await ended
    }
    renameSync(data, prepared)
  } catch (error) {
    // It is no error if another test process was faster.
    if (!existsSync(prepared)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

async function migrateIn(socket: string): Promise<void> {
  await untilReady(socket)
  const client = new pg.Client({ host: socket, database: 'postgres', user: 'postgres' })
  await client.connect()
  try {
    await client.query(`create database ${migratedDatabase}`)
    const connection = { host: socket, database: migratedDatabase, user: 'postgres' }
    await migratePostgres(connection, { complete: async () => {}, mayUpgrade: true })
  } finally {
    await client.end()
  }
}

/** Waits until the server behind a socket accepts connections. */
export async function untilReady(socket: string): Promise<void> {
  const end = Date.now() + 60_000
  for (;;) {
    const client = new pg.Client({ host: socket, database: 'postgres', user: 'postgres' })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (Date.now() > end) throw new Error('PostgreSQL did not start', { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}

/** Deletes prepared clusters that have not been used for a day: most of them belong to earlier migrations. */
function removeUnused(): void {
  for (const name of readdirSync(cacheFolder)) {
    if (!name.startsWith(start)) continue
    const folder = join(cacheFolder, name)
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > unusedForMs) rmSync(folder, { recursive: true, force: true })
  }
}
