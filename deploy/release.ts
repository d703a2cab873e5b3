// npm run release [-- --to folder]: builds everything that belongs to a release into a local folder; publishes nothing.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { bundledComponents, installedComponents, renderBill } from './third-party.ts'

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: { to: { type: 'string', default: join(root, 'release') } },
})
const folder = resolve(values.to)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const pack = ['deploy/pack.ts', '--to', folder]
execFileSync(process.execPath, pack, { cwd: root, stdio: 'inherit' })

const { name, version } = manifest
// By name, because Kysely occurs twice: npm installs it, and it is bundled into one file next to the launcher.
const components = new Map(
  [...installedComponents(root), ...bundledComponents(root)].map((one) => [one.name, one]),
)
writeFileSync(
  join(folder, `${name}-${version}.cdx.json`),
  renderBill({ name, version }, [...components.values()]),
)

const sums = readdirSync(folder)
  .toSorted()
  .map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(folder, file)))
      .digest('hex')
    return `${digest}  ${file}`
  })
writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`)
console.log(`${folder}:\n${sums.join('\n')}`)
