import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { loadMasterSecrets } from './master-key.ts'

describe('the master key of a data folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-master-key-'))
  after(() => rmSync(folder, { recursive: true }))

  test('is made by the first start, only its owner can read it, and later starts find it', () => {
    const data = join(folder, 'first')
    const [first] = loadMasterSecrets(undefined, data)
    assert.deepEqual(loadMasterSecrets(undefined, data), [first])
    assert.equal(statSync(join(data, 'secret.key')).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(data), ['secret.key'])
    assert.ok((first?.length ?? 0) >= 43)
  })

  test('is the same for all processes that start at the same moment', async (t) => {
    const threads = Array.from({ length: 4 }, () => new Worker(code, options))
    t.after(async () => await Promise.all(threads.map(async (thread) => await thread.terminate())))
    await Promise.all(threads.map(async (thread) => await once(thread, 'message')))
    for (let round = 0; round < 50; round++) {
      const data = join(folder, `round-${round}`)
      const loaded = threads.map(async (thread) => {
        const [secrets] = (await once(thread, 'message')) as [string[]]
        return secrets
      })
      for (const thread of threads) thread.postMessage(data, [])
      const [first, ...others] = await Promise.all(loaded)
      assert.ok((first?.[0]?.length ?? 0) >= 43, String(first))
      for (const other of others) assert.deepEqual(other, first)
    }
  })

  test('has one secret on each line, and empty lines do not count', () => {
    const [newest, old] = [
      'the newest of more than 32 characters',
      'the older of more than 32 characters',
    ]
    const data = folderWith('lines', `\n${newest}\r\n\n${old}\n`)
    assert.deepEqual(loadMasterSecrets(undefined, data), [newest, old])
  })

  for (const [what, text] of [
    ['empty', ''],
    ['blank', '\n \n'],
    ['short', 'too short to be random\n'],
    ['monotonous', `${'a'.repeat(43)}\n`],
    ['short behind a good one', 'a good one of more than 32 characters\nshort\n'],
  ] as const) {
    test(`is refused if its file is ${what}, because anybody could guess it`, () => {
      const data = folderWith(what, text)
      assert.throws(() => loadMasterSecrets(undefined, data), /secret\.key must hold 32 random/)
    })
  }

  function folderWith(name: string, text: string): string {
    const data = join(folder, name)
    mkdirSync(data)
    writeFileSync(join(data, 'secret.key'), text)
    return data
  }
})

const options = { eval: true, workerData: join(import.meta.dirname, 'master-key.ts') }
const code = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData).then(({ loadMasterSecrets }) => {
    parentPort.on('message', (folder) => parentPort.postMessage(loadMasterSecrets(undefined, folder)))
    parentPort.postMessage('ready')
  })
`
