// kill -9 during an apply must leave all of its changes or none. After an apply, a plan of the same file must be empty.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Keys } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import { auditEntries, openStore, organizations, type Store } from '../../src/store/index.ts'
import {
  configurationsFor,
  fileOf,
  operator,
  secretFor,
  sealer,
} from '../harness/configuration-worlds.ts'
import { postgresForTests } from '../harness/postgres.ts'
import { bigFile, twoFiles } from './apply-files.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture, type TortureOptions } from './torture.ts'
import type { Place } from './writers.ts'

/**
 * Runs on SQLite and on PostgreSQL. At full length, 1,000 generated files are applied on each; `--size N` changes the
 * number.
 */
export const apply: Torture = {
  about: 'kill -9 during apply; a second plan in generated worlds, on both engines',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-apply-'))
    await using database = await postgresForTests()
    const findings: string[] = []
    const figures: Record<string, number> = {}
    try {
      for (const [engine, place] of [
        ['sqlite', { folder }],
        ['postgres', { folder, databaseUrl: database.url }],
      ] as const) {
        const killed = await killRepeatedly(place, options)
        findings.push(...killed.map((finding) => `${engine}: ${finding}`))
        if (options.short) continue
        const worlds = await planAgain(place, options)
        findings.push(...worlds.findings.map((finding) => `${engine}: ${finding}`))
        figures[`${engine}_big_plan_ms`] = worlds.bigPlanMs
      }
      return { figures: { ...figures, kills: killsOf(options) }, findings }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

/** Waits until a writer has printed this many lines: one when it is ready, then one for each apply. */
async function heard(said: Readable, lines: number): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  for (let count = 0; count < lines;) {
    const [part] = (await once(said, 'data', { signal })) as [Buffer]
    count += part.toString().split('\n').length - 1
  }
}

function killsOf({ short }: TortureOptions): number {
  return short ? 3 : 50
}

async function killRepeatedly(place: Place, options: TortureOptions): Promise<string[]> {
  const random = randomFrom(options.seed)
  const findings: string[] = []
  let applied = 0
  for (let at = 0; at < killsOf(options); at++) {
    const words = [
      join(import.meta.dirname, 'apply-writer.ts'),
      place.folder,
      place.databaseUrl ?? '-',
      String(at * 1000),
    ]
    const writer = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    // The first writer is killed in its second apply at the earliest, so that there is something to lose.
    await heard(writer.stdout, 1 + (at === 0 ? 1 : Math.floor(random() * 3)))
    await wait(random() * 400)
    writer.kill('SIGKILL')
    await once(writer, 'close')
    await using store = await open(place)
    findings.push(...(await half(store, place)))
    const found = await organizations.findBySlug(store, 'torture')
    if (found === undefined) continue
    const entries = await auditEntries.list(store, found.id, { limit: 1000 })
    applied = entries.filter(({ action }) => action === 'configuration.applied').length
  }
  if (applied === 0) findings.push('nothing was ever applied')
  return findings
}

/**
 * Reports anything half applied: the organization must match one of `twoFiles`, and the writer must have saved the
 * secret of every active key.
 */
async function half(store: Store, place: Place): Promise<string[]> {
  const found = await organizations.findBySlug(store, 'torture')
  if (found === undefined) return []
  const configurations = configurationsFor(store)
  const options = { label: 'torture.yaml', prune: true, resolve: secretFor, permissions: undefined }
  const plans = await Promise.all(twoFiles.map(async (file) => configurations.plan(file, options)))
  const findings = plans.every(({ length }) => length > 0)
    ? [`neither file is applied: ${JSON.stringify(plans.map((plan) => plan[0]))}`]
    : []
  const written = globSync('keys-*.json', { cwd: place.folder })
    .map((file) => readFileSync(join(place.folder, file), 'utf8'))
    .join('')
  const keys = new Keys({ store, clock: systemClock })
  for (const key of await keys.list(found.id, { limit: 100, state: 'active' })) {
    if (!written.includes(key.id)) findings.push(`nobody has the secret of ${key.id}`)
  }
  return findings
}

async function planAgain(
  place: Place,
  { seed, size = 1000, say }: TortureOptions,
): Promise<{ findings: string[]; bigPlanMs: number }> {
  const findings: string[] = []
  await using store = await open(place)
  const configurations = configurationsFor(store)
  const by = {
    ...{ label: 'w.yaml', prune: true, resolve: secretFor },
    ...{ actor: operator, permissions: undefined },
  }
  const random = randomFrom(seed)
  for (let world = 0; world < size; world++) {
    // Four files are applied to each organization, so later files change and delete what earlier files created.
    const text = fileOf(random, `world-${world >> 2}`)
    await configurations.apply(text, by)
    const plan = await configurations.plan(text, by)
    if (plan.length > 0) findings.push(`${JSON.stringify(plan[0])} after an apply of\n${text}`)
    if (world % 100 === 99) say(`${world + 1} worlds`)
  }
  const big = bigFile(1000)
  await configurations.apply(big, by)
  const startedAt = performance.now()
  const plan = await configurations.plan(big, by)
  const bigPlanMs = Math.round(performance.now() - startedAt)
  if (plan.length > 0) findings.push('the plan of 1,000 targets is not empty')
  return { findings, bigPlanMs }
}

async function open(place: Place): Promise<Store> {
  return await openStore({ ...place, clock: systemClock, isNode: false, authenticator: sealer })
}
