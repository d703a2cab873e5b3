import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { mends } from '../harness/fleet-node.ts'
import { simulateFleet } from '../harness/fleet-simulation.ts'

// `npm run torture -- fleet` runs 100,000 simulations; `SIMULATION_FIRST=n SIMULATION_SEEDS=1` repeats seed n.
const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 300)
const first = Number(process.env['SIMULATION_FIRST'] ?? 1)
const worldsInPart = 40
const maxSeedsToFind = 400

describe('many nodes in simulated worlds', { timeout: 600_000 }, () => {
  // Split into parts, so that no single test takes long.
  for (let part = first; part < first + seeds; part += worldsInPart) {
    const last = Math.min(part + worldsInPart, first + seeds) - 1
    test(`in worlds ${part} to ${last} with failovers, skew, stops, cuts and kills nothing is let in after the answer`, async () => {
      for (let seed = part; seed <= last; seed++) {
        const { broken } = await simulateFleet(seed)
        const again = `seed ${seed} (SIMULATION_FIRST=${seed} SIMULATION_SEEDS=1)`
        assert.deepEqual(broken, [], again)
      }
    })
  }

  test('the worlds are wild enough to mean something', async () => {
    const faults = new Set<string>()
    let answered = 0
    for (let seed = 1; seed <= 10; seed++) {
      const result = await simulateFleet(seed)
      answered += result.answered
      for (const fault of Object.keys(result.faults)) faults.add(fault)
    }
    assert.ok(answered > 100, `${answered} answered`)
    assert.equal(faults.size, 7)
  })

  for (const mend of mends) {
    test(`without what mends "${mend}" the simulation finds the defect`, async () => {
      for (let seed = 1; seed <= maxSeedsToFind; seed++) {
        if ((await simulateFleet(seed, mend)).broken.length > 0) return
      }
      assert.fail(`not found in ${maxSeedsToFind} worlds`)
    })
  }
})
