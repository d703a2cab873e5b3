// Nothing may be acknowledged while the disk is full, and every acknowledged event must be delivered afterwards.
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReceiver } from '../harness/receiver.ts'
import { addEndpoints, countArrivals, drain, startNode } from './deliveries.ts'
import { heedless, shortageAt } from './disk.ts'
import { randomFrom } from '../harness/random.ts'
import { wait, type Torture } from './torture.ts'
import { prepare } from './writers.ts'

const goesOnWithinMs = 5000
const endpointCount = 3

export const fullDisk: Torture = {
  about: 'the disk is full while webhooks are delivered',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'intercept-deliveries-disk-'))
    const data = join(folder, 'data')
    mkdirSync(data)
    const shortage = shortageAt(data)
    const findings: string[] = []
    await using receiver = await startReceiver()
    try {
      const place = { folder: data }
      const organizationId = await prepare(place)
      const secret = await addEndpoints(place, organizationId, receiver)
      const received = countArrivals(receiver, secret, randomFrom(options.seed))
      received.heal()
      const acknowledged = new Set<string>()
      const node = await startNode(place, organizationId, ['publish'], acknowledged, heedless)
      await until(() => acknowledged.size > 100)

      shortage.fill(node)
      await settled(() => acknowledged.size)
      const whenFull = acknowledged.size
      await wait(options.short ? 500 : 10_000)
      if (node.exitCode !== null) findings.push('the process ended')
      if (acknowledged.size !== whenFull) findings.push('events were acknowledged on a full disk')

      shortage.free(node)
      const freedAt = performance.now()
      await until(() => acknowledged.size > whenFull + 50).catch(() => undefined)
      const goesOnMs = Math.round(performance.now() - freedAt)
      if (goesOnMs > goesOnWithinMs) findings.push(`it went on after ${goesOnMs} ms`)
      node.kill('SIGKILL')
      await once(node, 'close')

      const last = await startNode(place, organizationId, ['deliver'], acknowledged, heedless)
      findings.push(...(await drain(place, organizationId)))
      last.kill('SIGKILL')
      await once(last, 'close')
      const lost = [...acknowledged].filter(
        (id) => received.accepted.get(id)?.size !== endpointCount,
      )
      if (lost.length > 0) findings.push(`${lost.length} acknowledged events did not arrive`)
      return {
        findings,
        figures: { acknowledged: acknowledged.size, lost: lost.length, goes_on_ms: goesOnMs },
      }
    } finally {
      shortage.remove()
      rmSync(folder, { recursive: true })
    }
  },
}

/** Waits until a number has not grown for a second. */
async function settled(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count()
    await wait(1000)
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error('waited 30 s in vain')
    await wait(10)
  }
}
