import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tortures } from '../torture/index.ts'

const ofSeveralNodes: ReadonlySet<string> = new Set([
  'revocation',
  'postgres',
  'postgres-away',
  'rolling',
  'rolling-proxies',
  'nodes',
  'limits',
  'deliveries',
])

/**
 * Runs the tortures for a few seconds each, except those that are long. Two test files share them, so that each file
 * stays within its time limit.
 */
export function runShortTortures(part: 'one node' | 'several nodes'): void {
  describe(`tortures of ${part}, short`, () => {
    for (const [name, torture] of Object.entries(tortures)) {
      const isMeant = ofSeveralNodes.has(name) === (part === 'several nodes')
      if (torture.isLong === true || !isMeant) continue
      const missing = torture.missing?.()
      const reason = missing === undefined ? '' : `: skipped, ${missing}`
      const title = `${torture.about} (${name})${reason}`
      test(title, { skip: missing !== undefined }, async (context) => {
        const seed = Date.now() % 1_000_000
        const say = (line: string) => context.diagnostic(line)
        const report = await torture.run({ short: true, seed, say })
        context.diagnostic(`seed ${seed} ${JSON.stringify(report.figures)}`)
        assert.deepEqual(report.findings, [])
      })
    }
  })
}
