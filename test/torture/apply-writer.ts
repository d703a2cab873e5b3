// Applies two files in turn, as fast as it can, until it is killed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/clock.ts'
import { openStore } from '../../src/store/index.ts'
import { configurationsFor, operator, secretFor, sealer } from '../harness/configuration-worlds.ts'
import { twoFiles } from './apply-files.ts'

const [folder = '', databaseUrl = '', started = '0'] = process.argv.slice(2)

const store = await openStore({
  folder,
  databaseUrl: databaseUrl === '-' ? undefined : databaseUrl,
  clock: systemClock,
  isNode: true,
  authenticator: sealer,
})
const configurations = configurationsFor(store)
process.stdout.write('ready\n')
for (let at = Number(started); ; at++) {
  const by = {
    ...{ label: 'torture.yaml', prune: true, resolve: secretFor },
    ...{ actor: operator, permissions: undefined },
    onIssued: (issued: readonly object[]) =>
      writeFileSync(join(folder, `keys-${at}.json`), JSON.stringify(issued)),
  }
  await configurations.apply(twoFiles[at % 2] ?? '', by)
  process.stdout.write('applied\n')
}
