// npm run bench -- idle [seconds] [after]: measures the CPU time of a node that nobody calls, as a share of a core, first
// on SQLite, then on PostgreSQL, where it also measures the rate of transactions. A measurement takes the given number of
// seconds (60 by default) and begins about `after` seconds after the node's start (40 by default). For some minutes, V8
// still compiles what the node does now and then, so a later measurement shows less.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { postgresCluster, type PostgresCluster } from '../test/harness/postgres-cluster.ts'
import { unusedPort } from './processes.ts'

const seconds = Number(process.argv[2] ?? 60)
const settleMs = 10_000
const restMs = Number(process.argv[3] ?? 40) * 1000 - settleMs

console.log(`load of the machine ${loadavg()[0]?.toFixed(1)}`)
await measure('sqlite')
{
  await using cluster = await postgresCluster()
  await measure('postgres', cluster)
}

async function measure(engine: string, cluster?: PostgresCluster): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-idle-'))
  const port = await unusedPort()
  const database = cluster === undefined ? {} : { DATABASE_URL: cluster.url }
  const node = spawn(
    process.execPath,
    [join(import.meta.dirname, '../bin/intercept.js'), 'serve'],
    {
      env: {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: folder,
        ...database,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  try {
    await setTimeout(restMs)
    const health = await fetch(`http://127.0.0.1:${port}/readyz`)
    if (health.status !== 200) throw new Error(`the node on ${engine} is not ready`)
    // The work that the request above caused must not be measured.
    await setTimeout(settleMs)
    const { pid = 0 } = node
    const ranBefore = ranMs(pid)
    const committedBefore = await committed(cluster)
    await setTimeout(seconds * 1000)
    const share = (ranMs(pid) - ranBefore) / seconds / 10
    const commits = ((await committed(cluster)) - committedBefore) / seconds
    const statements = cluster === undefined ? '' : `, ${commits.toFixed(1)} transactions a second`
    console.log(`${engine}: an idle node uses ${share.toFixed(2)} % of a core${statements}`)
  } finally {
    node.kill()
    await once(node, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The milliseconds for which a process's threads have run. */
function ranMs(pid: number): number {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  )
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6
}

async function committed(cluster: PostgresCluster | undefined): Promise<number> {
  if (cluster === undefined) return 0
  const { rows } = await cluster.sql(
    'select xact_commit as count from pg_stat_database where datname = current_database()',
  )
  return Number((rows[0] as { count?: unknown } | undefined)?.count)
}
