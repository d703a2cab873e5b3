// While the database crashes or hangs, no revoked key may be accepted, and calls must be refused in time. Service must
// resume by itself.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresForTests, postgresProcess } from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command } from './guarded.ts'
import { recovery, startWatch, until } from './postgres-watch.ts'
import { wait, type Torture } from './torture.ts'

const refusedWithinMs = 5000
const maxRequestMs = 10_000
const recoversWithinMs = 5000
const connections = 10

/** Kills a backend with -9 (the server then recovers as after a crash), and suspends the whole server for a while. */
export const postgres: Torture = {
  about: 'PostgreSQL crashes, and stands still',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-postgres-'))
    await using database = await postgresForTests()
    const env = { DATA_DIR: folder, DATABASE_URL: database.url, LIMIT_FAILED_CREDENTIALS: 'off' }
    try {
      await command(env, 'org', 'create', 'torture')
      const good = await command(env, 'key', 'issue', 'torture', '--name', 'good')
      const bad = await command(env, 'key', 'issue', 'torture', '--name', 'bad')
      await command(env, 'key', 'revoke', bad['id'] ?? '')
      await using server = await startServerProcess(env)
      const watch = startWatch(server, good['secret'] ?? '', bad['secret'] ?? '')
      const findings: string[] = []
      await until(() => watch.good.some((call) => call.status === 200))

      const postmaster = await postgresProcess()
      const [backend] = await backendsOf(database)
      process.kill(backend ?? 0, 'SIGKILL')
      const crashMs = await recovery(watch, performance.now())
      if (crashMs > recoversWithinMs) findings.push(`after a crash it took ${crashMs} ms`)

      const stillMs = options.short ? 8000 : 30_000
      const family = [postmaster, ...childrenOf(postmaster)]
      const stoodStillAt = performance.now()
      for (const pid of family) process.kill(pid, 'SIGSTOP')
      await wait(stillMs)
      for (const pid of family) process.kill(pid, 'SIGCONT')
      const wentOnAt = performance.now()
      const stillRecoveryMs = await recovery(watch, wentOnAt)
      if (stillRecoveryMs > recoversWithinMs) {
        findings.push(`after standing still it took ${stillRecoveryMs} ms`)
      }
      await watch.stop()

      const during = watch.good.filter(
        (call) => call.at > stoodStillAt + 1500 && call.at + call.tookMs < wentOnAt,
      )
      // The crowd occupies all connections, which hang. Callers that wait for a connection must be refused in time.
      const crowd = watch.crowd.filter(
        (call) => call.at > stoodStillAt && call.at < stoodStillAt + 2500,
      )
      const late = crowd.filter((call) => call.tookMs > refusedWithinMs)
      if (late.length > connections) findings.push('more waited long than there are connections')
      const refused = crowd.filter((call) => call.status === 503)
      if (during.length + refused.length === 0) {
        findings.push('nobody was answered while it stood still')
      }
      for (const call of during) {
        if (call.status !== 503) findings.push(`${call.status} while the database stood still`)
        if (call.tookMs > refusedWithinMs) findings.push(`refused after ${call.tookMs} ms`)
      }
      const wasUnready = watch.ready.some((one) => one.at > stoodStillAt && one.status === 503)
      if (!wasUnready) findings.push('readiness stayed on')
      const slowestMs = Math.max(...watch.good.map((call) => call.tookMs))
      if (slowestMs > maxRequestMs) findings.push(`a request took ${slowestMs} ms`)
      if (watch.badLetIn.length > 0)
        findings.push(`a revoked key was let in ${watch.badLetIn.length} times`)
      return {
        findings: [...new Set(findings)],
        figures: {
          calls: watch.good.length,
          refused_while_still: during.length,
          slowest_ms: Math.round(slowestMs),
          recovered_from_crash_ms: Math.round(crashMs),
          recovered_from_standing_ms: Math.round(stillRecoveryMs),
        },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function backendsOf(database: {
  sql(text: string): Promise<{ rows: { pid: number }[] }>
}): Promise<number[]> {
  const { rows } = await database.sql(
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() and datname = current_database()",
  )
  return rows.map((row) => row.pid)
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}
