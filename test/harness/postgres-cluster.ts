import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  cpSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/store/index.ts'
import { copyRows } from './copy-rows.ts'
import { postgresPrograms } from './postgres.ts'

/** A private PostgreSQL server, because tests that kill or replace a server must not affect the shared one. */
export interface PostgresCluster extends AsyncDisposable {
  /** Stays the same when `start` is given other data. */
  readonly url: string
  readonly pid: () => number
  sql(text: string): Promise<pg.QueryResult>
  /** Copies the data of the running server, as pg_basebackup does; returns the copy's folder. */
  copy(): Promise<string>
  /**
   * Copies the content of the database into new data with another cluster identifier, as a dump and a restore would;
   * returns the folder of the new data.
   */
  copyAnew(): Promise<string>
  /** Kills the server with SIGKILL; resolves once its main process has ended. */
  kill(): Promise<void>
  /**
   * Starts the server again. If `data` is given, the server uses that folder from now on, and the data that it used
   * before is deleted. With `standby` it becomes a standby, and with `promoted` a standby that is promoted at once.
   */
  start(options?: { data?: string; promoted?: boolean; standby?: boolean }): Promise<void>
}

// initdb refuses to run as root, so it runs under this uid, which almost every Linux has in /etc/passwd, as initdb
// requires.
const nobody = 65_534
const asRoot = process.getuid?.() === 0
const owner = asRoot ? { uid: nobody, gid: nobody } : {}

const environment = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, ...owner }
const usualOptions = ['-U', 'postgres', '-A', 'trust', '--locale=C', '-E', 'UTF8', '--no-sync']

/**
 * Starts a new cluster with an empty database, in a new folder below `within`. By default it runs the same programs
 * as the shared server.
 */
export async function postgresCluster(
  within = tmpdir(),
  programs = postgresPrograms(),
): Promise<PostgresCluster> {
  const { native, isCopy } = programs
  const folder = mkdtempSync(join(within, 'intercept-cluster-'))
  if (asRoot) chownSync(folder, nobody, nobody)
  const own = join(folder, 'data')
  makeData(own)
  let child: ChildProcess | undefined
  let copies = 0
  /** The data folder in use; `start` with `data` switches to that folder and deletes the previous one. */
  let current = own

  function makeData(at: string): void {
    const program = join(native, 'bin', 'initdb')
    const options = ['-D', at, ...usualOptions, '--wal-segsize=1']
    const made = spawnSync(program, options, environment)
    if (made.status !== 0) throw new Error(`initdb: ${String(made.stderr)}`)
  }

  async function sql(text: string, database = 'node', host = folder): Promise<pg.QueryResult> {
    const client = new pg.Client({ host, database, user: 'postgres' })
    client.on('error', () => undefined)
    await client.connect()
    try {
      return await client.query(text)
    } finally {
      await client.end()
    }
  }

  function serve(data: string, socketFolder: string, out: number): ChildProcess {
    const words = ['-c', script, 'sh', join(native, 'bin', 'postgres'), data, socketFolder]
    return spawn('/bin/sh', words, { ...environment, stdio: ['pipe', out, out] })
  }

  async function copyAnew(): Promise<string> {
    const to = join(folder, `copy-${(copies += 1)}`)
    makeData(to)
    const log = join(folder, 'log')
    const server = serve(to, to, openSync(log, 'a', 0o644))
    try {
      await until(async () => await sql('create database node', 'postgres', to), log)
      const databaseUrl = addressOf(to)
      // Opening a store creates the tables. Their content is replaced below.
      await (
        await openStore({ databaseUrl, folder: to, clock: systemClock, isNode: false })
      )[Symbol.asyncDispose]()
      await copyRows(addressOf(folder), databaseUrl)
    } finally {
      const ended = once(server, 'close')
      // The server stops when our end of its stdin closes.
      server.stdin?.destroy()
      await ended
    }
    return to
  }

  async function start(
    options: { data?: string; promoted?: boolean; standby?: boolean } = {},
  ): Promise<void> {
    const { data = current, promoted = false, standby = promoted } = options
    if (data !== current) rmSync(current, { recursive: true, force: true })
    current = data
    const log = join(folder, 'log')
    const out = openSync(log, 'a', 0o644)
    // Make the server a standby, although it has no primary.
    if (standby) writeFileSync(join(data, 'standby.signal'), '')
    child = serve(data, folder, out)
    if (promoted) {
      await until(async () => await sql('select pg_promote()'), log)
      await until(async () => {
        const { rows } = await sql('select pg_is_in_recovery() as still')
        if ((rows[0] as { still: boolean }).still) throw new Error('it is still a standby')
      }, log)
    } else {
      await until(async () => {
        // After a kill, the new server refuses to start until all processes of the killed one have ended.
        if (child?.exitCode !== null) child = serve(data, folder, out)
        await sql('select 1', 'postgres')
      }, log)
    }
  }

  async function end(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'close')
    process.kill(pid(), signal)
    await ended
    child.stdin?.destroy()
    child = undefined
  }

  function pid(): number {
    const text = readFileSync(join(folder, '.s.PGSQL.5432.lock'), 'utf8')
    return Number(text.split('\n')[0])
  }

  await start()
  await sql('create database node', 'postgres')
  return {
    url: addressOf(folder),
    pid,
    sql,
    copyAnew,
    async copy() {
      const to = join(folder, `copy-${(copies += 1)}`)
      const client = new pg.Client({ host: folder, database: 'postgres', user: 'postgres' })
      await client.connect()
      try {
        await client.query("select pg_backup_start('copy', true)")
        cpSync(current, to, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') })
        // The copy also needs the write-ahead log up to this point.
        const stopped = await client.query<{ labelfile: string }>(
          'select labelfile from pg_backup_stop(false)',
        )
        cpSync(join(current, 'pg_wal'), join(to, 'pg_wal'), { recursive: true })
        writeFileSync(join(to, 'backup_label'), stopped.rows[0]?.labelfile ?? '')
      } finally {
        await client.end()
      }
      if (asRoot) spawnSync('chown', ['-R', `${nobody}:${nobody}`, to])
      return to
    },
    kill: async () => await end('SIGKILL'),
    start,
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
      if (isCopy) rmSync(dirname(native), { recursive: true, force: true })
    },
  }
}

function addressOf(socketFolder: string): string {
  return `postgres://postgres@localhost/node?host=${encodeURIComponent(socketFolder)}`
}

// The shell outlives this process. It stops the server when our end of its stdin closes, which happens even if this
// process is killed with -9.
const script = `
exec 3<&0
"$1" -D "$2" -k "$3" -c listen_addresses= -c dynamic_shared_memory_type=mmap -c fsync=off -c full_page_writes=on -c wal_level=replica \\
  -c max_connections=120 -c shared_buffers=32MB </dev/null &
server=$!
( cat <&3 >/dev/null; kill -INT $server 2>/dev/null ) &
wait $server
`

async function until(works: () => Promise<unknown>, log: string): Promise<void> {
  const end = performance.now() + 30_000
  for (;;) {
    try {
      await works()
      return
    } catch (error) {
      if (performance.now() > end)
        throw new Error(readFileSync(log, 'utf8').slice(-2000), { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}
