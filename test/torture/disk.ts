// While the disk is full, nothing may be acknowledged that was not stored. Work must resume once there is space again.
import { spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wait, type Torture } from './torture.ts'
import { findLosses, nothingYet, openPlace, prepare, startWriter } from './writers.ts'

const writesAgainWithinMs = 5000

/** A way to fill up a writer's disk, and to free space again. */
export interface Shortage {
  fill(writer: ChildProcess): void
  free(writer: ChildProcess): void
  remove(): void
}

/** Uses a small tmpfs if we may mount one (as root), otherwise a limit on the size of files. */
export const disk: Torture = {
  about: 'the disk is full',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-disk-'))
    const data = join(folder, 'data')
    mkdirSync(data)
    const shortage = shortageAt(data)
    const findings: string[] = []
    try {
      const acknowledged = nothingYet()
      const organizationId = await prepare({ folder: data })
      const writer = await startWriter({ folder: data }, organizationId, acknowledged, {
        wrap: heedless,
      })
      await until(() => acknowledged.issued.size > 20)
      shortage.fill(writer)
      await until(() => acknowledged.refused > 5)
      await wait(options.short ? 500 : 10_000)
      const refused = acknowledged.refused
      if (writer.exitCode !== null) findings.push('the process ended')

      const before = acknowledged.issued.size
      shortage.free(writer)
      const freedAt = performance.now()
      await until(() => acknowledged.issued.size > before + 5).catch(() => undefined)
      const recoveredMs = Math.round(performance.now() - freedAt)
      if (recoveredMs > writesAgainWithinMs) findings.push(`wrote again after ${recoveredMs} ms`)
      writer.kill('SIGKILL')
      await once(writer, 'close')

      await using store = await openPlace({ folder: data })
      findings.push(...(await findLosses(store, organizationId, acknowledged)))
      return {
        findings,
        figures: { issued: acknowledged.issued.size, refused, recovered_ms: recoveredMs },
      }
    } finally {
      shortage.remove()
      rmSync(folder, { recursive: true })
    }
  },
}

/**
 * A prefix that makes a command ignore SIGXFSZ, which would kill it when it exceeds the file size limit. The store gets
 * an error instead.
 */
export const heedless = ['sh', '-c', 'trap \'\' XFSZ; exec "$@"', 'sh']

export function shortageAt(data: string): Shortage {
  return smallDisk(data) ?? smallFiles()
}

function smallDisk(data: string): Shortage | undefined {
  const words = ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', data]
  if (process.getuid?.() !== 0 || spawnSync('mount', words).status !== 0) return undefined
  const filler = join(data, 'filler')
  return {
    fill() {
      try {
        writeFileSync(filler, Buffer.alloc(32 * 1024 * 1024))
      } catch {
        // Expected: the file has taken up all remaining space.
      }
    },
    free: () => rmSync(filler),
    remove: () => void spawnSync('umount', ['-l', data]),
  }
}

function smallFiles(): Shortage {
  const limit = (writer: ChildProcess, bytes: string) =>
    spawnSync('prlimit', ['--pid', String(writer.pid), `--fsize=${bytes}:unlimited`])
  return {
    fill: (writer) => void limit(writer, '4096'),
    free: (writer) => void limit(writer, 'unlimited'),
    remove() {},
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('waited 30 s in vain')
    await wait(10)
  }
}
