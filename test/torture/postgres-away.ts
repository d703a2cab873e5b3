// Nothing acknowledged may be lost when PostgreSQL stops without a checkpoint or has no connection left.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  postgresForTests,
  postgresProcess,
  startPostgresAgain,
  type TestDatabase,
} from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command } from './guarded.ts'
import { recovery, startWatch, until } from './postgres-watch.ts'
import { wait, type Torture } from './torture.ts'
import { findLosses, nothingYet, openPlace, prepare, startWriter } from './writers.ts'

const answeredWithinMs = 5000
const recoversWithinMs = 1000
/**
 * In a larger heap V8 would rarely collect garbage, and the heap's growth would say nothing about what the node keeps.
 */
const smallHeap = '--max-old-space-size=128 --max-semi-space-size=4'
/** A node's memory grows while V8 compiles its code, but may hardly grow after PostgreSQL has stopped this often. */
const warmAfterStops = 3
const grownAtMostMiB = 30

/** Stops PostgreSQL like `pg_ctl stop -m immediate`; then allows fewer connections than the processes need. */
export const postgresAway: Torture = {
  about: 'PostgreSQL stops at once, and has no connection left',
  isLong: true,
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-postgres-away-'))
    await using database = await postgresForTests()
    const place = { folder, databaseUrl: await asOrdinaryUser(database) }
    const env = {
      ...{ DATA_DIR: folder, DATABASE_URL: place.databaseUrl },
      LIMIT_FAILED_CREDENTIALS: 'off',
      // `prepare` creates the database without a master key, and a node generates none for an existing database.
      INTERCEPT_SECRET: randomBytes(32).toString('base64'),
    }
    const findings: string[] = []
    try {
      const organizationId = await prepare(place)
      const good = await command(env, 'key', 'issue', 'torture', '--name', 'good')
      const bad = await command(env, 'key', 'issue', 'torture', '--name', 'bad')
      await command(env, 'key', 'revoke', bad['id'] ?? '')
      await using server = await startServerProcess({ ...env, NODE_OPTIONS: smallHeap })
      const acknowledged = nothingYet()
      const writer = await startWriter(place, organizationId, acknowledged, { workers: 4 })
      const watch = startWatch(server, good['secret'] ?? '', bad['secret'] ?? '')
      await until(() => watch.good.some((call) => call.status === 200))
      let warmMiB: number | undefined

      const stopped: number[] = []
      for (let stop = 0; stop < (options.short ? 1 : 10); stop++) {
        const written = acknowledged.issued.size
        await until(() => acknowledged.issued.size > written + 20)
        await stopAtOnce()
        await wait(options.short ? 1500 : 3000)
        await startPostgresAgain()
        stopped.push(await recovery(watch, performance.now()))
        if (stopped.length === warmAfterStops) warmMiB = memoryOf(server.pid)
      }
      const slowestReturnMs = Math.max(...stopped)
      if (slowestReturnMs > recoversWithinMs) findings.push(`back after ${slowestReturnMs} ms`)

      // Allow only two connections in total, so that a node that lost its connections can hardly get new ones.
      await database.sql('alter role app connection limit 2')
      await database.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'",
      )
      const shortageAt = performance.now()
      await wait(options.short ? 5000 : 30_000)
      await database.sql('alter role app connection limit -1')
      const shortageReturnMs = await recovery(watch, performance.now())
      if (shortageReturnMs > recoversWithinMs) {
        findings.push(`back after ${shortageReturnMs} ms without connections`)
      }
      const during = watch.good.filter((call) => call.at > shortageAt)
      const strange = during.filter((call) => call.status !== 200 && call.status !== 503)
      for (const { status } of strange) findings.push(`${status} without connections`)

      await watch.stop()
      writer.kill('SIGKILL')
      await once(writer, 'close')
      const slowestMs = Math.max(...watch.good.map((call) => call.tookMs))
      if (slowestMs > answeredWithinMs) findings.push(`a call took ${Math.round(slowestMs)} ms`)
      if (watch.badLetIn.length > 0) findings.push('a revoked key was let in')
      const endMiB = memoryOf(server.pid)
      const grownMiB = endMiB - (warmMiB ?? endMiB)
      if (grownMiB > grownAtMostMiB) findings.push(`it grew by ${grownMiB} MiB`)
      await using store = await openPlace(place)
      findings.push(...(await findLosses(store, organizationId, acknowledged)))
      return {
        findings: [...new Set(findings)],
        figures: {
          stops: stopped.length,
          issued: acknowledged.issued.size,
          revoked: acknowledged.revoked.size,
          calls: watch.good.length,
          slowest_call_ms: Math.round(slowestMs),
          slowest_return_ms: Math.round(slowestReturnMs),
          return_from_shortage_ms: Math.round(shortageReturnMs),
          grown_mib_once_warm: grownMiB,
          resident_mib: endMiB,
        },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Creates a database role to which connection limits apply, unlike the superuser; returns the URL for this role. */
async function asOrdinaryUser(database: TestDatabase): Promise<string> {
  await database.sql(
    "do $$ begin if not exists (select from pg_roles where rolname = 'app') then create role app login; end if; end $$",
  )
  await database.sql(`alter database ${database.name} owner to app`)
  return database.url.replace('postgres://postgres@', 'postgres://app@')
}

/** Stops PostgreSQL like `pg_ctl stop -m immediate`: without a checkpoint, so that the next start needs recovery. */
async function stopAtOnce(): Promise<void> {
  const pid = await postgresProcess()
  process.kill(pid, 'SIGQUIT')
  await until(() => {
    try {
      return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    } catch {
      return true
    }
  })
}

function memoryOf(pid: number): number {
  const [, kibibytes = '0'] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1024)
}
