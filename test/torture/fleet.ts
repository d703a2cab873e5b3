// Failovers, skewed clocks, stuck and cut-off nodes in simulated worlds: 100,000 of them, each made from its number.
import { simulateFleet } from '../harness/fleet-simulation.ts'
import type { Torture } from './torture.ts'

const worlds = 100_000

/** Drives the real change feed, registration and confirmation; a finding names the seed that shows it again. */
export const fleet: Torture = {
  about:
    'many nodes in simulated worlds: nothing accepted after the answer, nobody refused for others',
  isLong: true,
  async run({ short, seed, say }) {
    const findings: string[] = []
    const figures = { worlds: 0, calls: 0, answered: 0, refused: 0 }
    const count = short ? 1000 : worlds
    for (let at = seed; at < seed + count; at++) {
      const result = await simulateFleet(at)
      figures.worlds += 1
      figures.calls += result.calls
      figures.answered += result.answered
      figures.refused += result.refused
      for (const broken of result.broken) findings.push(`seed ${at}: ${broken}`)
      if (figures.worlds % 5000 === 0) say(`${figures.worlds} worlds, ${findings.length} findings`)
    }
    return { findings, figures }
  },
}
