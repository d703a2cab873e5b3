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

const [wanted, ...words] = process.argv.slice(2)
const chosen = names.filter((name) => (wanted === undefined || name === wanted) && exists(name))
if (chosen.length === 0) {
  console.log(`There is ${names.filter(exists).join(', ')}.`)
  process.exit(2)
}
for (const name of chosen) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', fileOf(name), ...words], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}

function exists(name: string): boolean {
  return existsSync(fileOf(name))
}

function fileOf(name: string): string {
  return join(import.meta.dirname, `${name}.ts`)
}
