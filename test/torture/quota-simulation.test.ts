import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { simulateQuota } from '../harness/quota-simulation.ts'

const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 40)
const first = Number(process.env['SIMULATION_FIRST'] ?? 1)

describe('one quota over nodes in simulated worlds', { timeout: 300_000 }, () => {
  test(`in ${seeds} worlds with kills, cuts and lost answers never more passes than the quota, nor less where nothing was lost`, async () => {
    let refused = 0
    for (let seed = first; seed < first + seeds; seed++) {
      const result = await simulateQuota(seed)
      const again = `seed ${seed} (SIMULATION_FIRST=${seed} SIMULATION_SEEDS=1)`
      assert.deepEqual(result.broken, [], again)
      refused += result.refused
    }
    // The simulations must contain enough refusals to prove something.
    assert.ok(refused > seeds * 50, `${refused} refused`)
  })

  for (const mend of ['claims', 'returns'] as const) {
    test(`without what mends "${mend}" the simulation finds the defect`, async () => {
      for (let seed = 1; seed <= 40; seed++) {
        if ((await simulateQuota(seed, mend)).broken.length > 0) return
      }
      assert.fail('not found in 40 worlds')
    })
  }
})
