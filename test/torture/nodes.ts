// Three real nodes on a real PostgreSQL go through failovers, restores, disconnections, pauses, kills, wrong clocks and
// a full disk.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresCluster } from '../harness/postgres-cluster.ts'
import { AcceptanceCheck } from './nodes/acceptance-check.ts'
import { awayAndBack } from './nodes/database-away.ts'
import { Fleet } from './nodes/fleet.ts'
import { misfortunes, type Misfortune, type Trials } from './nodes/misfortunes.ts'
import { replacements } from './nodes/replacements.ts'
import { revokeBesideStuck } from './nodes/stuck-transactions.ts'
import { useUp } from './quota.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture, type TortureOptions } from './torture.ts'

const usualTrials = 20
const usualStuckTrials = 50
const usualMinutes = 5
const quotas = [100, 1000, 100_000]
const smallDisk = '160m'
// The faults that reveal most within the few seconds of the short form.
const shortFaults = ['clock wrong beside a cut node']

/** `--size` scales how often each kind of fault is caused; `--minutes` limits the random faults that follow. */
export const nodes: Torture = {
  about: 'three real nodes: nothing accepted after the answer through every misfortune',
  async run(options) {
    const { short, size = usualTrials } = options
    const figures: Record<string, number> = {}
    const findings: string[] = []
    const note = { figures, findings }
    await inFleet({ options, note, workers: 1 }, async (trials) => {
      if (short) return await shortTrials(trials, note.figures)
      await eachInTurn(trials, { options, size })
      await besideStuck(trials, {
        options,
        figures,
        count: Math.ceil((size / usualTrials) * usualStuckTrials),
      })
      await away(trials, { options, figures, count: Math.ceil(size / 4) })
      await atRandom(trials, options)
    })
    if (short) return note
    await inFleet({ options, note, workers: 2 }, async (trials) => await exactQuotas(trials, note))
    await onFullDisk({ options, note })
    return note
  },
}

interface Note {
  readonly figures: Record<string, number>
  readonly findings: string[]
}

async function inFleet(
  how: { options: TortureOptions; note: Note; workers: number; within?: string },
  run: (trials: Trials) => Promise<void>,
): Promise<void> {
  const { options, note, workers, within } = how
  const folder = mkdtempSync(join(tmpdir(), 'intercept-nodes-'))
  try {
    await using cluster = await postgresCluster(within)
    await using fleet = await Fleet.start({
      cluster,
      folder,
      workers,
      hasNeighbour: !options.short,
    })
    const random = randomFrom(options.seed)
    const check = new AcceptanceCheck(fleet, random)
    await run({ fleet, check, random, findings: note.findings })
    await check.pause()
    note.findings.push(...check.findings)
    for (const [name, value] of Object.entries(check.figures)) {
      note.figures[name] =
        name === 'worstMs'
          ? Math.max(note.figures[name] ?? 0, value)
          : (note.figures[name] ?? 0) + value
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function shortTrials(trials: Trials, figures: Record<string, number>): Promise<void> {
  const [failover] = replacements
  for (const { befall } of misfortunes.filter(({ name }) => shortFaults.includes(name))) {
    trials.check.resume()
    await befall(trials)
    await trials.fleet.allReady()
    await trials.check.pause()
  }
  await failover?.befall(trials)
  figures['slowest revocation beside a stuck node'] = await revokeBesideStuck(trials, {
    trial: 2,
    isOther: false,
  })
}

async function eachInTurn(
  trials: Trials,
  { options, size }: { options: TortureOptions; size: number },
): Promise<void> {
  trials.check.resume()
  for (const misfortune of [...misfortunes, ...replacements]) {
    const before = trials.findings.length + trials.check.findings.length
    for (let trial = 0; trial < size; trial++) await endure(trials, misfortune)
    const found = trials.findings.length + trials.check.findings.length - before
    options.say(`${misfortune.name}: ${size} times, ${found} findings`)
  }
  await trials.check.pause()
}

async function endure(trials: Trials, { name, befall }: Misfortune): Promise<void> {
  try {
    await befall(trials)
    await trials.fleet.allReady()
  } catch (error) {
    trials.findings.push(`${name}: ${(error as Error).message}`)
  }
}

async function besideStuck(
  trials: Trials,
  { options, figures, count }: { options: TortureOptions; figures: Note['figures']; count: number },
): Promise<void> {
  let slowestMs = 0
  for (let trial = 0; trial < count; trial++) {
    slowestMs = Math.max(
      slowestMs,
      await revokeBesideStuck(trials, { trial, isOther: trial % 4 < 2 }),
    )
  }
  figures['slowest revocation beside a stuck node, ms'] = slowestMs
  options.say(`beside a stuck node: ${count} times, slowest ${slowestMs} ms`)
}

async function away(
  trials: Trials,
  { options, figures, count }: { options: TortureOptions; figures: Note['figures']; count: number },
): Promise<void> {
  for (let trial = 0; trial < count; trial++) {
    const seen = await awayAndBack(trials)
    for (const [name, value] of Object.entries(seen)) {
      const figure = `PostgreSQL away: ${name}`
      figures[figure] = Math.max(figures[figure] ?? 0, value)
    }
  }
  options.say(`PostgreSQL away: ${count} times`)
}

async function atRandom(trials: Trials, options: TortureOptions): Promise<void> {
  const { random, check } = trials
  const end = performance.now() + (options.minutes ?? usualMinutes) * 60_000
  const anyOf = (list: readonly Misfortune[]): Misfortune | undefined =>
    list[Math.floor(random() * list.length)]
  const befallen: Record<string, number> = {}
  check.resume()
  while (performance.now() < end) {
    const one = random() < 0.2 ? anyOf(replacements) : anyOf(misfortunes)
    if (one === undefined) continue
    befallen[one.name] = (befallen[one.name] ?? 0) + 1
    await endure(trials, one)
    await wait(random() * 500)
  }
  await check.pause()
  options.say(`at random: ${JSON.stringify(befallen)}`)
}

async function exactQuotas({ fleet }: Trials, { figures, findings }: Note): Promise<void> {
  for (const calls of quotas) {
    const secret = await fleet.issueLimited(calls)
    const failed = new Map<number | undefined, number>()
    const passed = await useUp(calls, async (call) => {
      const node = fleet.nodes[call % fleet.nodes.length]
      const status = node && (await fleet.call(node, secret))
      if (status !== 200 && status !== 429) failed.set(status, (failed.get(status) ?? 0) + 1)
      return status === 200
    })
    figures[`quota of ${calls}`] = passed
    if (passed === calls) continue
    const others = JSON.stringify([...failed])
    findings.push(`${passed} calls passed a quota of ${calls}; neither 200 nor 429: ${others}`)
  }
}

/** Runs the database on a small disk of its own. Only root can mount one, so this part is left out for others. */
async function onFullDisk({
  options,
  note,
}: {
  options: TortureOptions
  note: Note
}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-small-disk-'))
  const made = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${smallDisk},mode=755`,
    'tmpfs',
    folder,
  ])
  if (made.status !== 0) {
    options.say('full disk: left out, a small disk may not be mounted here')
    return
  }
  try {
    const disk = join(folder, 'disk')
    mkdirSync(disk, { mode: 0o777 })
    await inFleet({ options, note, workers: 1, within: folder }, async (trials) => {
      const { fleet, check } = trials
      check.resume()
      await wait(1000)
      fill(join(disk, 'full'))
      await wait(5000)
      rmSync(join(disk, 'full'))
      // PostgreSQL stops when it can't write its write-ahead log, so give it time for that.
      await wait(1000)
      await fleet.cluster.sql('select 1').catch(async () => await fleet.cluster.start())
      await endure(trials, { name: 'full disk', befall: async () => await wait(1000) })
      const [key] = await check.keysInUse(1)
      if (key !== undefined) await check.revokeUntilAnswered(key)
      options.say('full disk: done')
    })
  } finally {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w')
  const page = Buffer.alloc(65_536)
  try {
    for (;;) writeSync(file, page)
  } catch {
    // ENOSPC is expected.
  } finally {
    closeSync(file)
  }
}
