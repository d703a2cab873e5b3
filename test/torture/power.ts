// At any instant, the files on the disk must be a database that contains everything acknowledged before.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture } from './torture.ts'
import {
  findLosses,
  nothingYet,
  openPlace,
  prepare,
  startWriter,
  type Acknowledged,
} from './writers.ts'

/**
 * Copies the files of a paused writer and, where strace is installed, checks that there is an fsync before each
 * acknowledgement.
 */
export const power: Torture = {
  about: 'copies of the files at random instants; fsync before every acknowledgement',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-power-'))
    try {
      const copies = options.short ? 4 : 40
      const random = randomFrom(options.seed)
      const findings: string[] = []
      const acknowledged = nothingYet()
      const organizationId = await prepare({ folder })
      const writer = await startWriter({ folder }, organizationId, acknowledged)
      for (let at = 0; at < copies; at++) {
        await wait(50 + random() * 300)
        writer.kill('SIGSTOP')
        const before = snapshot(acknowledged)
        const copy = join(folder, `copy-${at}`)
        copyDatabase(folder, copy)
        writer.kill('SIGCONT')
        await using store = await openPlace({ folder: copy })
        findings.push(...(await findLosses(store, organizationId, before)))
      }
      writer.kill('SIGKILL')
      await once(writer, 'close')
      options.say(`${acknowledged.issued.size} acknowledged, ${copies} copies read`)
      const traced = await traceSyncs(folder, options.short ? 10 : 100)
      findings.push(...traced.findings)
      return { findings, figures: { copies, issued: acknowledged.issued.size, ...traced.figures } }
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

function snapshot(acknowledged: Acknowledged): Acknowledged {
  return {
    issued: new Map(acknowledged.issued),
    revoked: new Set(acknowledged.revoked),
    refused: 0,
  }
}

/** Copies the database without the -shm file: that is shared memory, which a power failure loses. */
function copyDatabase(from: string, to: string): void {
  mkdirSync(to)
  for (const name of ['intercept.db', 'intercept.db-wal']) {
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  }
}

/** Has one worker write one thing after another, and checks that every acknowledgement follows an fsync of its own. */
async function traceSyncs(folder: string, writes: number) {
  if (spawnSync('strace', ['-o', '/dev/null', 'true']).status !== 0) {
    return { figures: { traced: 0 }, findings: [] }
  }
  const place = { folder: join(folder, 'traced') }
  const log = join(folder, 'strace.log')
  const organizationId = await prepare(place)
  const acknowledged = nothingYet()
  const wrap = ['strace', '-f', '-e', 'trace=write,writev,fsync,fdatasync', '-o', log]
  const tracer = await startWriter(place, organizationId, acknowledged, { workers: 1, wrap })
  while (acknowledged.issued.size < writes) await wait(20)
  // strace ends with its child; killing strace alone would let the child run on.
  const [, writer = ''] = /^(\d+) /.exec(readFileSync(log, 'utf8')) ?? []
  process.kill(Number(writer), 'SIGKILL')
  await once(tracer, 'close')

  let synced = false
  let traced = 0
  const findings: string[] = []
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (/\b(fsync|fdatasync)\(/.test(line)) synced = true
    const [, what] = /\bwritev?\(\d+, .*?"(issued|revoked) key_/.exec(line) ?? []
    if (what === undefined) continue
    traced++
    if (!synced) findings.push(`acknowledgement ${traced} (${what}) came without an fsync`)
    synced = false
  }
  if (traced < writes) findings.push(`only ${traced} acknowledgements were traced`)
  return { figures: { traced }, findings }
}
