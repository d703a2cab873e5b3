// The tortures for a few seconds each; `npm run torture -- <name>` runs one at full length.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tortures } from './torture/index.ts'

describe('torture, short', () => {
  for (const [name, torture] of Object.entries(tortures)) {
    if (torture.isLong === true) continue
    const missing = torture.missing?.()
    if (missing !== undefined) {
      test(`${torture.about} (${name}): not tested, ${missing}`, { skip: true })
      continue
    }
    test(`${torture.about} (${name})`, async (context) => {
      const seed = Date.now() % 1_000_000
      const say = (line: string) => context.diagnostic(line)
      const report = await torture.run({ short: true, seed, say })
      context.diagnostic(`seed ${seed} ${JSON.stringify(report.figures)}`)
      assert.deepEqual(report.findings, [])
    })
  }
})
