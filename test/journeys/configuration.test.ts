import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { postgresForTests } from '../harness/postgres.ts'
import { engines } from '../harness/store.ts'
import { intercept } from '../harness/terminal.ts'

const secret = 'Bearer canary-3f9c1d77'
const master = 'Zk3v9QpX7mL2sT8wR4nB6yH1cJ5dF0gA'
const file = `version: 1
organization:
  slug: acme
  name: Acme
targets:
  payments:
    upstream: http://127.0.0.1:8099/base
    credential:
      header: Authorization
      value: env:PAYMENTS
    rules:
      - deny DELETE /admin/*
      - allow GET,POST /v1/*
    otherwise: refuse
    rate_limit:
      calls: 100
      per_seconds: 1
    capture:
      headers: [X-Trace]
      body_bytes: 100
      redact: [password]
  search:
    upstream: http://127.0.0.1:8098/
`

for (const engine of engines) {
  describe(`configuration as a file on ${engine}`, () => {
    let folder: string
    const databases: AsyncDisposable[] = []
    before(() => void (folder = mkdtempSync(join(tmpdir(), 'intercept-configuration-'))))
    after(async () => {
      for (const one of databases) await one[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    })

    async function emptyPlace(name: string): Promise<Record<string, string>> {
      const database =
        engine === 'postgres' ? await postgresForTests({ migrated: true }) : undefined
      if (database) databases.push(database)
      const env = { DATA_DIR: join(folder, name), INTERCEPT_SECRET: master, PAYMENTS: secret }
      return database === undefined ? env : { ...env, DATABASE_URL: database.url }
    }

    function write(name: string, text: string): string {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    }

    test('apply makes what the file says; the next plan is empty; export, apply and export are the same bytes', async () => {
      const env = await emptyPlace('one')
      const path = write('acme.yaml', file)
      const applied = await intercept(['apply', path], { env })
      assert.equal(applied.code, 0, applied.err)
      assert.match(applied.out, /\+ target payments/)
      assert.equal((await intercept(['plan', path, '--expect-none'], { env })).code, 0)
      const exported = await intercept(['export', 'acme'], { env })
      assert.equal(exported.code, 0, exported.err)
      assert.match(exported.out, /value: env:PAYMENTS/)
      const copy = write('copy.yaml', exported.out)
      assert.equal((await intercept(['plan', copy, '--expect-none'], { env })).code, 0)

      const other = await emptyPlace('other')
      const again = await intercept(['apply', copy], { env: other })
      assert.equal(again.code, 0, again.err)
      assert.equal((await intercept(['export', 'acme'], { env: other })).out, exported.out)
      for (const said of [applied, exported, again]) {
        assert.ok(!(said.out + said.err).includes('canary'))
      }
      const log = await intercept(['audit', 'list', 'acme', '--json'], { env })
      assert.ok(!log.out.includes('canary'))
    })

    test('a change shows field by field, another secret only as another, and is applied once', async () => {
      const env = await emptyPlace('two')
      assert.equal((await intercept(['apply', write('two.yaml', file)], { env })).code, 0)
      const changed = write('two.yaml', file.replace('calls: 100', 'calls: 50'))
      const rotated = { ...env, PAYMENTS: 'Bearer canary-other' }
      const planned = await intercept(['plan', changed, '--expect-none'], { env: rotated })
      assert.equal(planned.code, 1)
      assert.match(planned.out, /~ target payments/)
      assert.match(planned.out, /rate_limit/)
      assert.match(planned.out, /credential\.value/)
      assert.ok(!planned.out.includes('canary'))
      assert.equal((await intercept(['apply', changed], { env: rotated })).code, 0)
      const none = await intercept(['plan', changed, '--expect-none'], { env: rotated })
      assert.equal(none.code, 0, none.out)
    })

    test('targets that the file made go with --prune only; what others made stays', async () => {
      const env = await emptyPlace('three')
      assert.equal((await intercept(['apply', write('p.yaml', file)], { env })).code, 0)
      const set = ['target', 'set', 'acme', 'by-hand', '--upstream', 'http://127.0.0.1:8097/']
      assert.equal((await intercept(set, { env })).code, 0)
      const less = write('p.yaml', file.slice(0, file.indexOf('  search:')))
      assert.equal((await intercept(['plan', less, '--expect-none'], { env })).code, 0)
      const pruned = await intercept(['apply', less, '--prune'], { env })
      assert.match(pruned.out, /- target search/)
      const { out } = await intercept(['target', 'list', 'acme', '--json'], { env })
      const slugs = (JSON.parse(out) as { slug: string }[]).map(({ slug }) => slug)
      assert.deepEqual(slugs.toSorted(), ['by-hand', 'payments'])
    })

    test('a new key is told once to the place that was named, and without a place nothing happens', async () => {
      const env = await emptyPlace('keys')
      const path = write('keys.yaml', `${file}keys:\n  ci:\n    grants: [payments:GET]\n`)
      const refused = await intercept(['apply', path], { env })
      assert.equal(refused.code, 1)
      assert.match(refused.err, /--new-secrets/)
      assert.deepEqual(JSON.parse((await intercept(['org', 'list', '--json'], { env })).out), [])
      const sink = join(folder, `new-${engine}.json`)
      const applied = await intercept(['apply', path, '--new-secrets', `file:${sink}`], { env })
      assert.equal(applied.code, 0, applied.err)
      assert.equal(statSync(sink).mode & 0o777, 0o600)
      const [key] = (JSON.parse(readFileSync(sink, 'utf8')) as { keys: { secret: string }[] }).keys
      const check = await intercept(['key', 'check'], { env, input: key!.secret })
      assert.equal(check.code, 0, check.err)
      const again = await intercept(['apply', path, '--new-secrets', `file:${sink}`], { env })
      assert.match(again.err, /is there already/)
      const log = await intercept(['audit', 'list', 'acme', '--json'], { env })
      for (const said of [refused, applied, again, log]) {
        assert.ok(!(said.out + said.err).includes(key!.secret))
      }
    })

    test('a file that fails halfway changes nothing', async () => {
      const env = await emptyPlace('four')
      const bad = write('bad.yaml', `${file}  zzz:\n    upstream: http://169.254.169.254/\n`)
      const refused = await intercept(['apply', bad], { env })
      assert.equal(refused.code, 1)
      const { out } = await intercept(['org', 'list', '--json'], { env })
      assert.deepEqual(JSON.parse(out), [])
    })
  })
}

describe('files that are wrong', () => {
  const wrong: Readonly<Record<string, readonly [text: string, says: RegExp]>> = {
    'an unknown field': [file.replace('otherwise', 'otherwize'), /f\.yaml:14: .*otherwize/],
    'a wrong type': [
      file.replace('calls: 100', 'calls: many'),
      /f\.yaml:16: targets\.payments\.rate_limit\.calls must be a whole number/,
    ],
    'a duplicate slug': [file.replace('  search:', '  payments:'), /f\.yaml:\d+: .*unique/],
    'a secret in place of a reference': [
      file.replace('env:PAYMENTS', 'hunter2'),
      /f\.yaml:10: .*env:NAME/,
    ],
    'a reference to nothing': [file.replace('env:PAYMENTS', 'env:NOTHING'), /env:NOTHING/],
    'a wrong rule': [file.replace('deny DELETE', 'forbid DELETE'), /f\.yaml:12: .*rules\[0\]/],
    'an alias': [
      `${file}    rules: &a [deny * /x]\n  more:\n    upstream: *a\n`,
      /f\.yaml:\d+: .*alias/,
    ],
    'too much': [`${file}# ${'x'.repeat(10_000_000)}`, /larger than 4 MiB/],
    'no mapping': ['- a\n', /f\.yaml:1: the file must be a mapping/],
  }
  for (const [name, [text, says]] of Object.entries(wrong)) {
    test(`${name} is refused in one sentence, and nothing is changed`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'intercept-wrong-'))
      const env = { DATA_DIR: join(folder, 'data'), INTERCEPT_SECRET: master, PAYMENTS: secret }
      const path = join(folder, 'f.yaml')
      writeFileSync(path, text)
      const refused = await intercept(['apply', path], { env })
      assert.equal(refused.code, 1, refused.out)
      assert.match(refused.err, says)
      assert.ok(!refused.err.includes('hunter2'))
      rmSync(folder, { recursive: true, force: true })
    })
  }
})
