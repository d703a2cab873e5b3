import Database from 'better-sqlite3'
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { intercept as interceptIn } from '../../test/harness/terminal.ts'

describe('command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-cli-'))
  after(() => rmSync(folder, { recursive: true }))

  async function intercept(words: string, input = '') {
    return await interceptIn(words.split(' '), { env: { DATA_DIR: folder }, input })
  }

  async function answerOf(words: string): Promise<Record<string, string>> {
    const { code, out, err } = await intercept(`${words} --json`)
    assert.equal(code, 0, err)
    return JSON.parse(out) as Record<string, string>
  }

  test('wrong use exits 2 and says how it is used', async () => {
    for (const words of [
      'fly',
      'org',
      'org create',
      'org create a b',
      'org list --colour',
      'key issue acme',
    ]) {
      const { code, out, err } = await intercept(words)
      assert.equal(code, 2, words)
      assert.equal(out, '')
      assert.match(err, /intercept/)
    }
  })

  test('help exits 0 and names every command', async () => {
    const { code, out } = await intercept('--help')
    assert.equal(code, 0)
    for (const noun of ['serve', 'org', 'key']) assert.match(out, new RegExp(`^ {2}${noun} `, 'm'))
    assert.match((await intercept('key issue --help')).out, /--grant/)
  })

  test('a key is issued, found, rotated and revoked; --json holds id and secret', async () => {
    assert.match((await answerOf('org create acme --plan enterprise'))['id'] ?? '', /^org_/)
    const key = await answerOf('key issue acme --name ci --grant echo:GET,POST --expires 90d')
    assert.match(key['id'] ?? '', /^key_/)
    assert.match(key['secret'] ?? '', /^svc_live_/)
    const bearer = await answerOf('key issue acme --name other --scheme bearer')
    assert.match(bearer['secret'] ?? '', /^sk_live_/)

    const check = await intercept('key check --json', bearer['secret'])
    assert.equal(check.code, 0)
    assert.equal((JSON.parse(check.out) as { id: string }).id, bearer['id'])

    const rotated = await answerOf(`key rotate ${bearer['id']} --overlap 0s`)
    assert.notEqual(rotated['secret'], bearer['secret'])
    assert.equal((await intercept('key check', rotated['secret'])).code, 0)
    assert.equal((await intercept('key check', bearer['secret'])).code, 1)

    assert.equal((await answerOf(`key revoke ${bearer['id']}`))['state'], 'revoked')
    const revoked = await intercept('key check --json', rotated['secret'])
    assert.equal(revoked.code, 1)
    assert.match(revoked.err, /credential_revoked/)
  })

  test('a secret is in the answer of its issuing and in nothing else', async () => {
    const { secret = '' } = await answerOf('key issue acme --name canary')
    for (const words of ['key list acme', 'key list acme --json', 'org list --json']) {
      assert.ok(!(await intercept(words)).out.includes(secret))
    }
  })

  test('what is refused exits 1 with its sentence, and with its code under --json', async () => {
    const { code, err } = await intercept('key list nobody')
    assert.equal(code, 1)
    assert.match(err, /There is no organization nobody/)
    assert.match((await intercept('key list nobody --json')).err, /"code":"not_found"/)
    assert.match((await intercept('org create acme --json')).err, /"code":"conflict"/)
  })

  test('there is one setup link, until there is somebody; then sign-in links for known people', async () => {
    assert.match((await answerOf('setup-link'))['url'] ?? '', /\/setup\?token=.{40,}/)
    assert.equal((await intercept('sign-in-link ada@acme.test')).code, 1)
    await answerOf('member add acme ada@acme.test --role owner --name Ada')
    assert.match(
      (await answerOf('sign-in-link ada@acme.test'))['url'] ?? '',
      /sign-in-link\?token=/,
    )
    assert.equal((await intercept('setup-link')).code, 1)
    assert.match((await intercept('member list acme')).out, /ada@acme\.test .*owner .*active/)
    assert.equal((await intercept('member add acme bob@acme.test --role king')).code, 2)
  })

  test('a changed audit entry shows', async () => {
    assert.equal((await intercept('audit verify')).code, 0)
    const file = new Database(join(folder, 'intercept.db'))
    file.exec("update audit_entry set detail = '{}' where sequence = 2")
    file.close()
    const { code, out } = await intercept('audit verify acme')
    assert.equal(code, 1)
    assert.match(out, /WRONG acme: broken at entry 2: it was changed/)
  })
})
