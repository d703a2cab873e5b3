// Once a revocation has been answered, every new call with the key must fail.
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keys } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { openStore, type Store } from '../../src/store/index.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { startServerProcess, type ServerProcess } from '../harness/server-process.ts'
import { command } from './guarded.ts'
import { prefixed, wait, type Torture, type TortureOptions, type TortureReport } from './torture.ts'

const nodes = 3
const clients = 8
const elsewhereWithinMs = 1000

/** Runs on SQLite, with three processes on one file, and on PostgreSQL, where listening connections are also cut. */
export const revocation: Torture = {
  about: 'revocation on three nodes under load',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-revocation-'))
    await using database = await postgresForTests()
    const env = { DATA_DIR: folder }
    const cutListeners = async (): Promise<void> => {
      await database.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'",
      )
    }
    try {
      const sqlite = await revokeRepeatedly(env, options)
      const onPostgres = { ...env, DATABASE_URL: database.url }
      const postgres = await revokeRepeatedly(onPostgres, options, cutListeners)
      return {
        findings: [...sqlite.findings, ...postgres.findings],
        figures: {
          ...prefixed('sqlite', sqlite.figures),
          ...prefixed('postgres', postgres.figures),
        },
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function revokeRepeatedly(
  env: Record<string, string>,
  options: TortureOptions,
  disturb?: () => Promise<void>,
): Promise<TortureReport> {
  const rounds = options.short ? 10 : 500
  await command(env, 'org', 'create', 'torture')
  await using opened = new AsyncDisposableStack()
  const servers: ServerProcess[] = []
  for (let at = 0; at < nodes; at++) servers.push(opened.use(await startServerProcess(env)))
  const store = opened.use(
    await openStore({
      folder: env['DATA_DIR'] ?? '',
      databaseUrl: env['DATABASE_URL'],
      clock: systemClock,
      isNode: false,
    }),
  )
  const agent = new Agent({ keepAlive: true, maxSockets: clients * 2 })
  opened.defer(() => agent.destroy())

  const findings: string[] = []
  const tookMs: number[] = []
  let succeeded = 0
  let latestMs = 0
  for (let round = 0; round < rounds; round++) {
    if (disturb !== undefined && round % 5 === 4) await disturb()
    const seen = await revokeOnce(store, servers, agent)
    succeeded += seen.succeeded
    tookMs.push(seen.tookMs)
    latestMs = Math.max(latestMs, seen.latestStartMs)
    if (seen.latestStartMs > 0) {
      findings.push(
        `round ${round}: a call that began ${seen.latestStartMs.toFixed(1)} ms after the answer succeeded`,
      )
    }
    if (seen.tookMs > elsewhereWithinMs + 500) {
      findings.push(`round ${round}: the revocation was answered after ${seen.tookMs} ms`)
    }
    if (seen.succeeded === 0) findings.push(`round ${round}: nothing succeeded before`)
  }
  tookMs.sort((one, other) => one - other)
  return {
    findings,
    figures: {
      rounds,
      succeeded_before: succeeded,
      median_ms: Math.round(tookMs[Math.floor(rounds / 2)] ?? 0),
      worst_ms: Math.round(tookMs.at(-1) ?? 0),
    },
  }
}

async function revokeOnce(store: Store, servers: readonly ServerProcess[], agent: Agent) {
  const keys = new Keys({ store, clock: systemClock })
  const actor = { kind: 'operator' } as const
  const organization = await new Organizations({ store }).get('torture')
  const organizationId: OrganizationId = organization.id
  const input = { name: 'hammered', scheme: 'x-api-key' } as const
  const { key, secret } = await keys.issue(organizationId, input, actor)

  const successes: number[] = []
  const over = new AbortController()
  const hammering = Array.from({ length: clients }, async (_, client) => {
    const url = `${servers[client % servers.length]?.baseUrl ?? ''}/api/v1/intercept`
    while (!over.signal.aborted) {
      const startedAt = performance.now()
      if ((await statusOf(url, secret.reveal(), agent)) === 200) successes.push(startedAt)
    }
  })
  await wait(60)
  // On a busy machine, the first calls to a node that has just started take longer, so wait until one has succeeded.
  for (let turn = 0; successes.length === 0 && turn < 500; turn++) await wait(20)
  const revokedAt = performance.now()
  await keys.revoke(organizationId, key.id, actor)
  const answeredAt = performance.now()
  await wait(120)
  over.abort()
  await Promise.all(hammering)
  return {
    succeeded: successes.length,
    tookMs: answeredAt - revokedAt,
    latestStartMs: Math.max(0, ...successes.map((startedAt) => startedAt - answeredAt)),
  }
}

async function statusOf(url: string, secret: string, agent: Agent): Promise<number> {
  return await new Promise((resolve) => {
    const sent = request(url, { agent, headers: { 'X-API-Key': secret } }, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
      answer.on('error', () => resolve(0))
    })
    sent.on('error', () => resolve(0))
    sent.end()
  })
}
