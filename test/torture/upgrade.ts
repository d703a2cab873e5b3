// A killed migration must succeed when it runs again, a backup made under load must be complete, and a node must keep
// working with a newer schema.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { postgresForTests, type TestDatabase } from '../harness/postgres.ts'
import { startServerProcess } from '../harness/server-process.ts'
import { command, prepareGuarded, startUpstream } from './guarded.ts'
import { until } from './postgres-watch.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture, type TortureOptions } from './torture.ts'
import { findLosses, nothingYet, openPlace, prepare, startWriter } from './writers.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'intercept.js')
/** A migration is killed within this many milliseconds of its first trace in the database. */
const killWithinMs = 60

type Report = { figures: Record<string, number>; findings: string[] }

export const upgrade: Torture = {
  about: 'migrations killed half-way, backups under load, a newer schema under a running node',
  isLong: true,
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-upgrade-'))
    try {
      const parts = [
        await killMigrations(join(folder, 'migrations'), options),
        await backUpUnderLoad(join(folder, 'backups'), options),
        await serveNewerSchema(join(folder, 'newer')),
      ]
      return {
        figures: Object.assign({}, ...parts.map(({ figures }) => figures)) as Report['figures'],
        findings: parts.flatMap(({ findings }) => findings),
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function killMigrations(folder: string, options: TortureOptions): Promise<Report> {
  const random = randomFrom(options.seed)
  const kills = options.short ? 3 : 40
  const findings: string[] = []
  let halfway = 0
  for (let at = 0; at < kills * 2; at++) {
    const data = join(folder, String(at))
    mkdirSync(data, { recursive: true })
    await using database = at % 2 === 0 ? undefined : await postgresForTests()
    const env = { DATA_DIR: data, ...(database ? { DATABASE_URL: database.url } : {}) }
    const child = spawn(process.execPath, [launcher, 'migrate'], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: 'ignore',
    })
    const ended = once(child, 'close')
    await until(async () => child.exitCode !== null || (await hasBegun(data, database)))
    await wait(random() * killWithinMs)
    child.kill('SIGKILL')
    await ended
    if (child.signalCode === 'SIGKILL') halfway++
    try {
      await command(env, 'migrate')
      await command(env, 'org', 'create', 'after')
      const { state } = await command(env, 'migrate')
      if (state !== 'up_to_date') findings.push(`after a kill the schema is ${state}`)
    } catch (error) {
      findings.push(`after a kill: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (halfway === 0) findings.push('no migration was killed half-way')
  return { figures: { migrations: kills * 2, killed_halfway: halfway }, findings }
}

async function hasBegun(data: string, database: TestDatabase | undefined): Promise<boolean> {
  if (database === undefined) return existsSync(join(data, 'intercept.db'))
  const { rows } = await database.sql(
    "select 1 from pg_stat_activity where application_name = 'intercept' and datname = current_database()",
  )
  return rows.length > 0
}

async function backUpUnderLoad(folder: string, options: TortureOptions): Promise<Report> {
  const findings: string[] = []
  const place = { folder: join(folder, 'data') }
  mkdirSync(place.folder, { recursive: true })
  const organizationId = await prepare(place)
  const acknowledged = nothingYet()
  const writer = await startWriter(place, organizationId, acknowledged)
  const backups = options.short ? 2 : 20
  try {
    for (let at = 0; at < backups; at++) {
      const written = acknowledged.issued.size
      await until(() => acknowledged.issued.size > written + 50)
      const before = {
        issued: new Map(acknowledged.issued),
        revoked: new Set(acknowledged.revoked),
        refused: 0,
      }
      const file = join(folder, `backup-${at}.db`)
      await command({ DATA_DIR: place.folder }, 'backup', file)
      const restored = join(folder, `restored-${at}`)
      await command({ DATA_DIR: restored }, 'restore', file)
      await using store = await openPlace({ folder: restored })
      findings.push(...(await findLosses(store, organizationId, before)))
      const copy = new Database(join(restored, 'intercept.db'), { readonly: true })
      if (copy.pragma('integrity_check', { simple: true }) !== 'ok') findings.push('a torn copy')
      copy.close()
    }
  } finally {
    writer.kill('SIGKILL')
    await once(writer, 'close')
  }
  return { figures: { backups, written_meanwhile: acknowledged.issued.size }, findings }
}

/** Checks that columns which a newer version adds to the schema do not disturb a running node. */
async function serveNewerSchema(folder: string): Promise<Report> {
  await using database = await postgresForTests()
  const env = { DATA_DIR: folder, DATABASE_URL: database.url }
  await using upstream = await startUpstream((_request, response) => response.end('ok'))
  const { secret } = await prepareGuarded(env, upstream.url)
  await using server = await startServerProcess(env)
  const { rows } = await database.sql(
    "select table_name from information_schema.tables where table_schema = 'public' and table_name <> 'migration'",
  )
  for (const { table_name: table } of rows as { table_name: string }[]) {
    await database.sql(`alter table "${table}" add column from_the_future text default 'later'`)
  }
  await database.sql("insert into migration (name, digest) values ('9999-future.sql', 'x')")
  const findings: string[] = []
  for (let at = 0; at < 20; at++) {
    const answer = await fetch(`${server.baseUrl}/api/v1/intercept/up/x`, {
      headers: { 'X-API-Key': secret },
    })
    await answer.arrayBuffer()
    if (answer.status !== 200) findings.push(`${answer.status} under a newer schema`)
  }
  const recorded = async (): Promise<boolean> =>
    Number((await database.sql('select count(*) as calls from call')).rows[0]?.calls) >= 20
  await until(recorded).catch(() => findings.push('no calls are recorded under a newer schema'))
  const ready = await fetch(`${server.baseUrl}/readyz`)
  if (ready.status !== 200) findings.push(`not ready under a newer schema: ${ready.status}`)
  return { figures: { tables_with_a_new_column: rows.length }, findings }
}
