import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, listSettings, readConfig, remarks, suspicions } from './config.ts'

describe('settings', () => {
  test('without any setting the product runs on this machine with the documented defaults', () => {
    const config = readConfig({})
    assert.equal(config.host, '127.0.0.1')
    assert.equal(config.port, 8080)
    assert.equal(config.baseUrl, 'http://localhost:8080')
    assert.equal(config.authUrl, config.baseUrl)
    assert.deepEqual(config.keySchemes, ['x-api-key', 'bearer'])
    assert.equal(config.limits.requestHeadBytes, 16 * 1024)
    assert.equal(config.limits.bodyBytes, 100 * 1024 * 1024)
    assert.deepEqual(config.limits.failedCredentials, { perSecond: 20, burst: 100 })
    assert.equal(config.retention.auditMs, 400 * 86_400_000)
    assert.equal(config.metricsPort, undefined)
  })

  test('the base address follows PORT until it is set', () => {
    assert.equal(readConfig({ PORT: '9000' }).baseUrl, 'http://localhost:9000')
    const own = readConfig({ PORT: '9000', BASE_URL: 'https://api.example.com' })
    assert.equal(own.baseUrl, 'https://api.example.com')
    assert.equal(own.authUrl, 'https://api.example.com')
    assert.equal(own.baseUrlFollowsPort, false)
  })

  test('loopback is open for outgoing calls exactly while the base address is on this machine, and that is said', () => {
    const local = readConfig({})
    assert.equal(local.loopbackIsOpen, true)
    assert.match(remarks(local).join(' '), /loopback/)
    const publicly = readConfig({ BASE_URL: 'https://api.example.com' })
    assert.equal(publicly.loopbackIsOpen, false)
    assert.doesNotMatch(remarks(publicly).join(' '), /loopback/)
  })

  test('limits that may be switched off can be switched off', () => {
    const config = readConfig({ LIMIT_FAILED_CREDENTIALS: 'off', LIMIT_SCIM: 'off' })
    assert.equal(config.limits.failedCredentials, undefined)
    assert.equal(config.limits.scim, undefined)
  })

  const wrong: readonly [Record<string, string>, RegExp][] = [
    [{ BASE_URL: 'http://api.example.com' }, /^BASE_URL must begin with https:/],
    [{ BASE_URL: 'http://192.168.1.10:8080' }, /^BASE_URL must begin with https:/],
    [{ BASE_URL: 'http://127.0.0.1.example.com' }, /^BASE_URL must begin with https:/],
    [{ BASE_URL: 'https://api.example.com/path' }, /^BASE_URL must be an address without a path/],
    [{ BASE_URL: 'ftp://api.example.com' }, /^BASE_URL must be an address that begins with/],
    [{ INTERCEPT_SECRET: 'changeme' }, /^INTERCEPT_SECRET is too weak/],
    [{ INTERCEPT_SECRET: 'a'.repeat(64) }, /^INTERCEPT_SECRET is too weak/],
    [{ PORT: '80800' }, /^PORT must be a port number/],
    [{ PORT: '8080x' }, /^PORT must be a port number/],
    [{ KEY_SCHEMES: 'bearer,basic' }, /^KEY_SCHEMES must be x-api-key or bearer/],
    [{ SESSION_FORMAT: 'paseto' }, /^SESSION_FORMAT must be jwt or opaque/],
    [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL must begin with postgres:/],
    [{ TRUSTED_PROXIES: 'all' }, /^TRUSTED_PROXIES must be a number of proxies/],
    [{ OUTBOUND_ALLOW_CIDRS: '10.0.0.0/33' }, /^OUTBOUND_ALLOW_CIDRS must be ranges/],
    [{ LIMIT_SESSION: '48h' }, /^LIMIT_SESSION must be at most 24h/],
    [{ LIMIT_URL: 'large' }, /^LIMIT_URL must be a size/],
    [{ LIMIT_REQEST_HEAD: '1KiB' }, /^LIMIT_REQEST_HEAD is not a setting/],
    [{ LIMIT_SCMI: 'off' }, /^LIMIT_SCMI is not a setting; did you mean LIMIT_SCIM\?$/],
    [{ GITHUB_CLIENT_ID: 'x' }, /^GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET are needed together/],
    [{ WORKERS: '0' }, /^WORKERS must be a whole number from 1 to 64/],
  ]
  for (const [env, sentence] of wrong) {
    test(`R6: ${JSON.stringify(env)} is refused in one sentence`, () => {
      const sentences = refusal(env)
      assert.equal(sentences.length, 1)
      assert.match(sentences[0] ?? '', sentence)
    })
  }

  const doubts: readonly (readonly [string, RegExp | undefined])[] = [
    ['BASEURL', /^BASEURL is not a setting; did you mean BASE_URL\?$/],
    ['DATABSE_URL', /did you mean DATABASE_URL/],
    ['TRUSTED_PROXY', undefined],
    ['TRUSTED_PROXYS', /did you mean TRUSTED_PROXIES/],
    ['PROT', /did you mean PORT/],
    ['HOTS', /did you mean HOST/],
    ['WORKER', /did you mean WORKERS/],
    ['base_url', /^base_url is not a setting; did you mean BASE_URL\?$/],
    ['INTERCEPT_BASE_URL', /did you mean BASE_URL/],
    ['INTERCEPT_SECERT', /did you mean INTERCEPT_SECRET/],
    ['INTERCEPT_DATBASE_URL', /did you mean DATABASE_URL/],
    ['INTERCEPT_COLOUR', /^INTERCEPT_COLOUR is not a setting; `intercept doctor` lists them all/],
    ['BASE_URL', undefined],
    // What machines, shells and orchestrators set.
    ...['HOME', 'PATH', 'PWD', 'HOSTNAME', 'HOSTTYPE', 'TERM', 'LANG', 'SHELL', 'USER', 'MAIL'].map(
      (name) => [name, undefined] as const,
    ),
    ...['SERVICE_HOST', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8080_TCP_ADDR'].map(
      (name) => [`INTERCEPT_${name}`, undefined] as const,
    ),
  ]
  for (const [name, sentence] of doubts) {
    test(`R6: ${name} is ${sentence === undefined ? 'nobody’s business' : 'doubted, never refused'}`, () => {
      const canary = name.includes('PORT') ? '1' : 'https://canary.test'
      const said = suspicions({ [name]: canary })
      assert.equal(said.length, sentence === undefined ? 0 : 1, said.join())
      if (sentence === undefined) return
      assert.match(said[0] ?? '', sentence)
      assert.doesNotMatch(said.join(), /canary/)
      assert.deepEqual(refusal({ [name]: canary }), [])
    })
  }

  test('R6: a Node below the security floor is refused', () => {
    assert.throws(() => readConfig({}, '24.20.3'), ConfigError)
    assert.throws(() => readConfig({}, '22.99.0'), ConfigError)
    assert.doesNotThrow(() => readConfig({}, '24.21.0'))
    assert.doesNotThrow(() => readConfig({}, '26.10.0'))
  })

  test('all wrong settings are named at once', () => {
    assert.equal(refusal({ PORT: 'x', WORKERS: 'x', BASE_URL: 'x' }).length, 3)
  })

  test('A4: a list of the settings never shows a secret', () => {
    const canary = 'postgres://intercept:canary-password@db/intercept'
    const lines = listSettings({ DATABASE_URL: canary, INTERCEPT_SECRET: canary })
    assert.doesNotMatch(JSON.stringify(lines), /canary/)
    assert.equal(lines.find((line) => line.name === 'DATABASE_URL')?.value, '(set)')
    assert.equal(lines.find((line) => line.name === 'LIMIT_URL')?.default, '8KiB')
  })
})

function refusal(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences
    throw error
  }
  return []
}
