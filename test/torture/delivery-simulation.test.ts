import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { simulate } from '../harness/delivery-simulation.ts'

// Set SIMULATION_SEEDS=10000 before a release. SIMULATION_FIRST=n SIMULATION_SEEDS=1 repeats seed n.
const seeds = Number(process.env['SIMULATION_SEEDS'] ?? 150)
const first = Number(process.env['SIMULATION_FIRST'] ?? 1)

describe('deliveries in simulated worlds', { timeout: 600_000 }, () => {
  test(`in ${seeds} worlds with kills, lost answers, outages and clock jumps nothing is lost`, async () => {
    let sent = 0
    let kills = 0
    let repeated = 0
    for (let seed = first; seed < first + seeds; seed++) {
      const result = await simulate(seed)
      assert.deepEqual(
        result.broken,
        [],
        `seed ${seed} (SIMULATION_FIRST=${seed} SIMULATION_SEEDS=1)`,
      )
      sent += result.sent
      kills += result.kills
      repeated += result.repeated
    }
    // The simulations must contain enough deliveries and kills to prove something.
    assert.ok(sent > seeds * 20 && kills > seeds / 4, `${sent} sent, ${kills} kills`)
    assert.ok(repeated < sent * 0.05, `${repeated} of ${sent} were repeated`)
  })
})
