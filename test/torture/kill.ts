// Kill -9 at random moments while eight workers write; nothing that was acknowledged may be lost or incomplete.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresForTests } from '../harness/postgres.ts'
import { randomFrom } from '../harness/random.ts'
import { prefixed, wait, waitForWork, type Torture, type TortureReport } from './torture.ts'
import { findLosses, nothingYet, openPlace, prepare, startWriter, type Place } from './writers.ts'

export const kill: Torture = {
  about: 'kill -9 during writes, on both engines',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-kill-'))
    await using database = await postgresForTests()
    try {
      const sqlite = await killRepeatedly({ folder }, options)
      const postgres = await killRepeatedly({ folder, databaseUrl: database.url }, options)
      return {
        figures: {
          ...prefixed('sqlite', sqlite.figures),
          ...prefixed('postgres', postgres.figures),
        },
        findings: [...sqlite.findings, ...postgres.findings],
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

async function killRepeatedly(
  place: Place,
  options: Parameters<Torture['run']>[0],
): Promise<TortureReport> {
  const random = randomFrom(options.seed)
  const kills = options.short ? 3 : 20
  const acknowledged = nothingYet()
  const organizationId = await prepare(place)
  let slowestRestartMs = 0
  for (let at = 0; at < kills; at++) {
    const issuedBefore = acknowledged.issued.size
    const startedAt = performance.now()
    const writer = await startWriter(place, organizationId, acknowledged)
    slowestRestartMs = Math.max(slowestRestartMs, performance.now() - startedAt)
    await wait(300 + random() * (options.short ? 500 : 2200))
    await waitForWork(() => acknowledged.issued.size > issuedBefore)
    writer.kill('SIGKILL')
    await once(writer, 'close')
  }
  options.say(`${acknowledged.issued.size} acknowledged before ${kills} kills`)
  await using store = await openPlace(place)
  const findings = await findLosses(store, organizationId, acknowledged)
  if (acknowledged.issued.size < kills) findings.push('the writers wrote hardly anything')
  if (slowestRestartMs > 5000) findings.push(`a restart took ${Math.round(slowestRestartMs)} ms`)
  return {
    findings,
    figures: {
      kills,
      issued: acknowledged.issued.size,
      revoked: acknowledged.revoked.size,
      slowest_restart_ms: Math.round(slowestRestartMs),
    },
  }
}
