import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { simulateStarving, starvingMends } from '../harness/starving-simulation.ts'

const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 5)
const first = Number(process.env['SIMULATION_FIRST'] ?? 1)

describe('receivers beside bad ones in simulated worlds', { timeout: 300_000 }, () => {
  test(`in ${seeds} worlds healthy endpoints hear within 50 ms and ordered ones within 100 ms`, async () => {
    for (let seed = first; seed < first + seeds; seed++) {
      const { broken, arrived } = await simulateStarving(seed)
      assert.deepEqual(broken, [], `seed ${seed} (SIMULATION_FIRST=${seed} SIMULATION_SEEDS=1)`)
      assert.ok(arrived > 300, `${arrived} arrived`)
    }
  })

  for (const mend of starvingMends) {
    test(`without what mends "${mend}" the simulation finds the defect`, async () => {
      for (let seed = 1; seed <= 10; seed++) {
        if ((await simulateStarving(seed, mend)).broken.length > 0) return
      }
      assert.fail('not found in 10 worlds')
    })
  }
})
