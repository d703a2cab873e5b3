import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { hostileIdp, type HostileIdp } from '../../../test/harness/hostile-idp.ts'
import { lies } from '../../../test/harness/hostile-lies.ts'
import { intercept as interceptIn } from '../../../test/harness/terminal.ts'

describe('sso on the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'intercept-sso-'))
  let idp: HostileIdp
  before(async () => {
    idp = await hostileIdp(lies)
    assert.equal((await intercept('org create acme --plan enterprise')).code, 0)
  })
  after(async () => {
    rmSync(folder, { recursive: true })
    await idp[Symbol.asyncDispose]()
  })

  async function intercept(words: string, input = 'secret') {
    return await interceptIn(words.split(' '), { env: { DATA_DIR: folder }, input })
  }
  const connect = (lie: string, more = '') =>
    `sso connect acme --issuer ${idp.issuerOf(lie)} --client-id intercept --client-secret-stdin${more}`

  test('connect discovers, saves, and prints the addresses to register', async () => {
    const { code, out, err } = await intercept(`${connect('honest', ' --domain acme.test')} --json`)
    assert.equal(code, 0, err)
    const made = JSON.parse(out) as {
      id: string
      redirect_uri: string
      domains: { state: string }[]
    }
    assert.equal(made.redirect_uri, `http://localhost:8080/api/v1/auth/sso/${made.id}/callback`)
    assert.equal(made.domains[0]?.state, 'waiting')
    assert.ok(!out.includes('secret"'))
    assert.match((await intercept('sso list acme')).out, /acme\.test +waiting/)
  })

  test('the connection made last is the default; a domain follows it', async () => {
    const { out } = await intercept(`${connect('honest', ' --domain acme.test')} --json`)
    const made = JSON.parse(out) as {
      is_default: boolean
      id: string
      domains: { connection_id: string }[]
    }
    assert.equal(made.is_default, true)
    assert.equal(made.domains[0]?.connection_id, made.id)
  })

  test('what a provider gets wrong is refused with exit 1 and its code', async () => {
    const { code, err } = await intercept(`${connect('other-issuer')} --json`)
    assert.equal(code, 1)
    assert.match(err, /idp_discovery_invalid/)
    const keyed = connect('honest').replace('--client-secret-stdin', '--private-key')
    assert.match((await intercept(keyed)).err, /way in which the client proves itself/)
  })

  test('a provider on an address that is not called is refused before anything is sent', async () => {
    const words =
      'sso connect acme --issuer https://169.254.169.254 --client-id x --client-secret-stdin'
    const { code, err } = await intercept(`${words} --json`)
    assert.equal(code, 1)
    assert.match(err, /idp_unreachable/)
  })

  test('verify-domain --override vouches for a domain, public mail domains excepted', async () => {
    const { code, out } = await intercept('sso verify-domain acme acme.test --override --json')
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(out).verified_by, 'operator')
    const refused = await intercept('sso verify-domain acme gmail.com --override --json')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /domain_public/)
  })

  test('wrong use exits 2', async () => {
    for (const words of [
      'sso',
      'sso connect',
      'sso connect acme --issuer https://x --client-id y',
    ]) {
      assert.equal((await intercept(words)).code, 2, words)
    }
  })
})
