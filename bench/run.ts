// npm run bench -- <name> [arguments…]: runs one benchmark; without a name, all of them in order until one
// fails.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const names = [
  'gateway',
  'keys',
  'records',
  'idle',
  'workers',
  'limits',
  'webhooks',
  'scim',
  'calls',
  'dashboard',
  'commands',
]

// Some benchmarks run a node's code in their own process; with a node's flags and heap settings, it costs there what it
// costs in a node. The others start nodes and peers, which would inherit the heap settings; peers must run as their
// operators run them.
const inOwnProcess = new Set(['keys', 'records', 'limits', 'webhooks', 'calls'])
const flagsFile: string = join(import.meta.dirname, '../bin/serve-flags.js')
const { serveFlags, heapSettings } = (await import(flagsFile)) as {
  serveFlags: readonly string[]
  heapSettings: Readonly<Record<string, string>>
}

const [wanted, ...words] = process.argv.slice(2)
const chosen = names.filter((name) => (wanted === undefined || name === wanted) && exists(name))
if (chosen.length === 0) {
  console.log(`There is ${names.filter(exists).join(', ')}.`)
  process.exit(2)
}
for (const name of chosen) {
  const flags = ['--expose-gc', ...serveFlags]
  const { status } = spawnSync(process.execPath, [...flags, fileOf(name), ...words], {
    stdio: 'inherit',
    env: inOwnProcess.has(name) ? { ...heapSettings, ...process.env } : process.env,
  })
  if (status !== 0) process.exit(1)
}

function exists(name: string): boolean {
  return existsSync(fileOf(name))
}

function fileOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`)
}
