import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createId } from '../../src/ids.ts'
import { organizations, restoreBackup } from '../../src/store/index.ts'
import { finishFile } from '../../src/files.ts'
import { emptyPlace } from './engines.ts'

let folder: string
before(() => void (folder = mkdtempSync(join(tmpdir(), 'intercept-restore-'))))
after(() => rmSync(folder, { recursive: true, force: true }))

test('the file of a database whose last changes are in the log beside it is refused as a backup', async () => {
  await using place = await emptyPlace('sqlite')
  await using store = await place.open()
  const fields = { id: createId('org'), slug: 'acme', name: 'Acme', plan: 'standard' } as const
  await store.transaction(async (tx) => await organizations.insert(tx, fields))
  const target = join(folder, 'target')
  await assert.rejects(
    restoreBackup(join(place.folder, 'intercept.db'), target),
    /intercept\.db-wal holds changes that .* does not have yet/,
  )
  assert.equal(existsSync(join(target, 'intercept.db')), false)
})

test('a database that a node made while a backup was copied is not overwritten', () => {
  const here = join(folder, 'here')
  mkdirSync(here)
  const [unfinished, place] = [join(here, 'x.restoring'), join(here, 'x.db')]
  writeFileSync(unfinished, 'the backup')
  writeFileSync(place, 'made in the meantime')
  assert.throws(() => finishFile(unfinished, place), /exists already/)
  assert.equal(readFileSync(place, 'utf8'), 'made in the meantime')
})
