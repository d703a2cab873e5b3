import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { printable, printableInLine } from '../../src/cli/lib/terminal.ts'
import { intercept } from '../harness/terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'intercept-terminal-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const env = { DATA_DIR: folder, INTERCEPT_SECRET: 'Zk3v9QpX7mL2sT8wR4nB6yH1cJ5dF0gA' }
const hostile = 'ci\u001b[2J\u001b]0;owned\u0007\u009b31m\r\nkey_00000000  forged\u202ecod'

test('what somebody named moves no cursor, colours nothing and forges no row, in tables, details and refusals', async () => {
  const run = async (...words: string[]) => await intercept(words, { env })
  assert.equal((await run('org', 'create', 'acme', '--name', hostile)).code, 0)
  const issued = await run('key', 'issue', 'acme', '--name', hostile, '--json')
  assert.equal(issued.code, 0, issued.err)
  const { id } = JSON.parse(issued.out) as { id: string }
  for (const words of [
    ['org', 'list'],
    ['key', 'list', 'acme'],
    ['key', 'show', 'acme', id],
    ['audit', 'list', 'acme'],
    ['key', 'list', hostile],
    ['export', 'acme'],
  ]) {
    const { out, err } = await run(...words)
    // oxlint-disable-next-line no-control-regex -- control characters are what the test looks for
    assert.doesNotMatch(out + err, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/)
  }
  const rows = (await run('key', 'list', 'acme')).out.split('\n')
  assert.equal(rows.length, 2)
  assert.doesNotMatch(rows.join(''), /\u202e/)
})

test('in sentences and details about one thing its name stays on its line', async () => {
  const run = async (...words: string[]) => await intercept(words, { env })
  assert.equal((await run('org', 'create', 'forged')).code, 0)
  const name = 'ci (key_1) is revoked.\r\nState      revoked\rKey prod'
  const { out: made } = await run('key', 'issue', 'forged', '--name', name, '--json')
  const { id } = JSON.parse(made) as { id: string }
  const shown = (await run('key', 'show', id)).out.split('\n')
  assert.equal(shown.filter((line) => line.startsWith('State')).length, 1)
  for (const verb of ['rotate', 'revoke']) {
    const { out, err } = await run('key', verb, id)
    assert.doesNotMatch(out, /^State|^Key prod|\r/m, err)
  }
})

test('programs read the same name from --json as was given', async () => {
  const { out } = await intercept(['org', 'list', '--json'], { env })
  assert.equal((JSON.parse(out) as { name: string }[])[0]?.name, hostile)
})

test('what cannot be shown is an escape; tabs and new lines stay between lines only', () => {
  assert.equal(printable('a\u001b[31m\u009b\tb\n'), String.raw`a\u001b[31m\u009b` + '\tb\n')
  assert.equal(printableInLine('a\tb\nc\u2028\u202ed'), String.raw`a\u0009b\u000ac\u2028\u202ed`)
  assert.equal(printableInLine('Jörg 李 🧨'), 'Jörg 李 🧨')
})
