// npm run torture -- <name> [--short] [--seed N] [--minutes N] [--size N]; without a name, prints the list.
import { parseArgs } from 'node:util'
import { tortures } from './index.ts'

const { values, positionals } = parseArgs({
  options: {
    short: { type: 'boolean' },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    size: { type: 'string' },
  },
  allowPositionals: true,
})
const [name = ''] = positionals
const torture = tortures[name]
if (torture === undefined) {
  console.log('npm run torture -- <name> [--short] [--seed N] [--minutes N] [--size N]\n')
  for (const [known, { about }] of Object.entries(tortures)) {
    console.log(`  ${known.padEnd(12)} ${about}`)
  }
  process.exit(name === '' ? 0 : 2)
}

const missing = torture.missing?.()
if (missing !== undefined) {
  console.log(`${name} can't run: ${missing}`)
  process.exit(2)
}
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const startedAt = performance.now()
console.log(`${name}, seed ${seed}: ${torture.about}`)
const minutes = values.minutes === undefined ? undefined : Number(values.minutes)
const size = values.size === undefined ? undefined : Number(values.size)
const short = values.short === true
const report = await torture.run({ short, seed, minutes, size, say: console.log })
for (const [figure, value] of Object.entries(report.figures)) console.log(`  ${figure}: ${value}`)
for (const finding of report.findings) console.log(`  FOUND ${finding}`)
const { user, system } = process.cpuUsage()
console.log(
  `${report.findings.length} findings in ${Math.round((performance.now() - startedAt) / 1000)} s (this process used ${((user + system) / 1e6).toFixed(1)} s of CPU)`,
)
process.exit(report.findings.length === 0 ? 0 : 1)
