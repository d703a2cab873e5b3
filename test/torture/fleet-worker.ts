// One process of the fleet torture: runs the simulations that it is sent, and reports what it found.
import { simulateFleet } from '../harness/fleet-simulation.ts'
import type { FleetPart, FleetReport } from './fleet.ts'

process.on('message', ({ first, count }: FleetPart) => void simulate(first, count))

async function simulate(first: number, count: number): Promise<void> {
  const report: FleetReport = { calls: 0, answered: 0, refused: 0, findings: [], cpuMs: 0 }
  const before = process.cpuUsage()
  for (let seed = first; seed < first + count; seed++) {
    const result = await simulateFleet(seed)
    report.calls += result.calls
    report.answered += result.answered
    report.refused += result.refused
    for (const broken of result.broken) report.findings.push(`seed ${seed}: ${broken}`)
  }
  const { user, system } = process.cpuUsage(before)
  report.cpuMs = (user + system) / 1000
  process.send?.(report)
}
