// Records calls as the gateway does, 20,000 a second on SQLite and 10,000 a second on PostgreSQL. Prints how many
// records were dropped, and CPU times as shares of a core: those of the thread that records the calls, of the process's
// other threads, and of the rest of the machine, which includes PostgreSQL. Usage: `npm run bench -- records
// [seconds]`; the default is 60.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import { createRecorder } from '../src/calls/index.ts'
import { systemClock } from '../src/clock.ts'
import { createId } from '../src/ids.ts'
import { digestBytes } from '../src/secrets/index.ts'
import { openStore, type CallRecord, type Engine } from '../src/store/index.ts'
import { createMetrics } from '../src/telemetry/index.ts'
import { postgresForTests } from '../test/harness/postgres.ts'

const seconds = Number(process.argv[2] ?? 60)
const rates: Readonly<Record<Engine, number>> = { sqlite: 20_000, postgres: 10_000 }
const tickMs = 2

for (const engine of ['sqlite', 'postgres'] as const) await measure(engine, rates[engine])

async function measure(engine: Engine, perSecond: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-records-'))
  const database = engine === 'postgres' ? await postgresForTests() : undefined
  try {
    await using store = await openStore({
      folder,
      databaseUrl: database?.url,
      clock: systemClock,
      isNode: false,
    })
    const metrics = createMetrics()
    const log = { error: (fields: object, text: string) => console.log(text, fields) }
    const recorder = createRecorder({ store, clock: systemClock, metrics, log, alsoFlush: {} })
    const before = usage()
    const startedAt = performance.now()
    const record = recordMaker()
    const secret = { digest: digestBytes('bench'), isOldSecret: false }
    let made = 0
    while (made < perSecond * seconds) {
      const due = Math.min(
        perSecond * seconds,
        ((performance.now() - startedAt) / 1000) * perSecond,
      )
      for (; made < due; made++) {
        recorder.record(record(), secret, 'all')
      }
      await setTimeout(tickMs)
    }
    const tookS = (performance.now() - startedAt) / 1000
    const after = usage()
    await recorder[Symbol.asyncDispose]()
    // SQLite keeps records in blocks.
    const stored =
      engine === 'sqlite'
        ? sql`select coalesce(sum(calls), 0) as stored from call_block`
        : sql`select count(*) as stored from call`
    const { rows } = await sql<{ stored: number }>`${stored}`.execute(store.calls.query)
    const dropped = made - Number(rows[0]?.stored)
    const share = (part: keyof Usage): string =>
      `${(((after[part] - before[part]) / tookS) * 100).toFixed(0)} %`
    console.log(
      `${engine}: ${(made / tookS).toFixed(0)} calls/s recorded for ${tookS.toFixed(0)} s, ${dropped} of ${made} records dropped`,
    )
    console.log(
      `  of a core: ${share('main')} the thread of the calls (making the records included), ${share('threads')} the other threads, ${share('rest')} the rest of the machine`,
    )
  } finally {
    await database?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns a function that makes one call record at a time: three keys of one organization call five paths in turn. */
function recordMaker(): () => CallRecord {
  const organizationId = createId('org')
  const keyIds = Array.from({ length: 3 }, () => createId('key'))
  const targetId = createId('tgt')
  let made = 0
  return () => {
    made++
    const now = systemClock.now()
    return {
      id: createId('req', now),
      at: now,
      organizationId,
      keyId: keyIds[made % keyIds.length] ?? createId('key'),
      targetId,
      method: 'GET',
      path: `/api/v1/intercept/up/items/${made % 5}`,
      status: 200,
      ...{ refusal: undefined, stoppedAt: undefined, ruleId: undefined, trialRuleId: undefined },
      bytesIn: 0,
      bytesOut: 1024,
      durationUs: 1500 + (made % 700),
      upstreamUs: 1000,
      address: '192.0.2.1',
      agent: 'bench/1.0',
      capture: undefined,
    }
  }
}

interface Usage {
  readonly main: number
  readonly threads: number
  readonly rest: number
}

function usage(): Usage {
  const whole = process.cpuUsage()
  const own = process.threadCpuUsage()
  const all = (whole.user + whole.system) / 1e6
  const main = (own.user + own.system) / 1e6
  const busyMs = cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys, 0)
  return { main, threads: all - main, rest: busyMs / 1000 - all }
}
