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
    assert.deepEqual(config.limits.failedCredentials, {
      calls: 20,
      perSeconds: 1,
      burst: 100,
    })
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
    [{ DATABASE_URL: 'postgres://u:p,w@a:5432,b:5432/x' }, /^DATABASE_URL must name one host/],
    [{ TRUSTED_PROXIES: 'all' }, /^TRUSTED_PROXIES must be a number of proxies/],
    [{ OUTBOUND_ALLOW_CIDRS: '10.0.0.0/33' }, /^OUTBOUND_ALLOW_CIDRS must be ranges/],
    [{ LIMIT_SESSION: '48h' }, /^LIMIT_SESSION must be at most 24h/],
    [{ LIMIT_SCIM: '20/s burst 0' }, /^LIMIT_SCIM must be a rate/],
    [{ LIMIT_SESSION: '0h' }, /^LIMIT_SESSION must be at least 1s/],
    [{ LIMIT_SESSION_IDLE: '0s' }, /^LIMIT_SESSION_IDLE must be at least 1s/],
    [{ RETENTION_CALLS: '0d' }, /^RETENTION_CALLS must be at least 1s/],
    [{ RETENTION_DELIVERIES: '0d' }, /^RETENTION_DELIVERIES must be at least 1s/],
    [{ RETENTION_AUDIT: '0d' }, /^RETENTION_AUDIT must be at least 1s/],
    [{ LIMIT_KEEP_ALIVE: '500ms' }, /^LIMIT_KEEP_ALIVE must be at least 1s/],
    [{ LIMIT_URL: 'large' }, /^LIMIT_URL must be a size/],
    [{ LIMIT_REQEST_HEAD: '1KiB' }, /^LIMIT_REQEST_HEAD is not a setting/],
    [{ LIMIT_SCMI: 'off' }, /^LIMIT_SCMI is not a setting; did you mean LIMIT_SCIM\?$/],
    [{ GITHUB_CLIENT_ID: 'x' }, /^GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET are needed together/],
    [{ WORKERS: '0' }, /^WORKERS must be a whole number from 1 to 64/],
  ]
  for (const [env, sentence] of wrong) {
    test(`${JSON.stringify(env)} is refused in one sentence`, () => {
      const sentences = refusal(env)
      assert.equal(sentences.length, 1)
      assert.match(sentences[0] ?? '', sentence)
    })
  }

  const misspelt: readonly (readonly [string, RegExp])[] = [
    ['BASEURL', /^BASEURL is not a setting; did you mean BASE_URL\?$/],
    ['DATABSE_URL', /did you mean DATABASE_URL/],
    ['TRUSTED_PROXYS', /did you mean TRUSTED_PROXIES/],
    ['base_url', /^base_url is not a setting; did you mean BASE_URL\?$/],
    ['INTERCEPT_BASE_URL', /did you mean BASE_URL/],
    ['INTERCEPT_SECERT', /did you mean INTERCEPT_SECRET/],
    ['INTERCEPT_SECRET_FIEL', /did you mean INTERCEPT_SECRET_FILE/],
    ['INTERCEPT_SECERT_FILE', /did you mean INTERCEPT_SECRET_FILE/],
    ['SMTP_URL_FILES', /did you mean SMTP_URL_FILE/],
    ['BASE_URL_FILE', /only secrets are read from files, so set BASE_URL itself/],
    ['INTERCEPT_DATBASE_URL', /did you mean DATABASE_URL/],
    ['INTERCEPT_COLOUR', /^INTERCEPT_COLOUR is not a setting; `intercept doctor` lists them all/],
  ]
  for (const [name, sentence] of misspelt) {
    test(`${name} stops the start in one sentence that does not show its value`, () => {
      const sentences = refusal({ [name]: '/canary' })
      assert.equal(sentences.length, 1, sentences.join())
      assert.match(sentences[0] ?? '', sentence)
      assert.doesNotMatch(sentences.join(), /canary/)
    })
  }

  for (const [name, sentence] of [
    ['host', /^host is not a setting; did you mean HOST\?$/],
    ['PROT', /did you mean PORT/],
    ['HOTS', /did you mean HOST/],
    ['WORKER', /did you mean WORKERS/],
  ] as const) {
    test(`${name}, near a short name, is doubted and never refused`, () => {
      assert.match(suspicions({ [name]: '1' }).join(), sentence)
      assert.deepEqual(refusal({ [name]: '1' }), [])
    })
  }

  for (const name of [
    // Variables of operating systems, shells, orchestrators and other programs.
    ...['HOME', 'PATH', 'PWD', 'HOSTNAME', 'HOSTTYPE', 'TERM', 'LANG', 'SHELL', 'USER', 'MAIL'],
    ...['SSL_CERT_FILE', 'TRUSTED_PROXY', 'PGPASSFILE', 'KUBERNETES_PORT', 'NPM_CONFIG_CACHE'],
    ...['SERVICE_HOST', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_8080_TCP_ADDR'].map(
      (end) => `INTERCEPT_${end}`,
    ),
    // Variables that the command line reads.
    ...['INTERCEPT_SERVER', 'INTERCEPT_TOKEN'],
  ]) {
    test(`${name} is neither doubted nor refused`, () => {
      assert.deepEqual(suspicions({ [name]: '1' }), [])
      assert.deepEqual(refusal({ [name]: '1' }), [])
    })
  }

  describe('secrets as files', () => {
    const canary = 'c4nary-0123456789-ABCDEFGHIJKLMNOP'
    const readFile = (path: string): string => {
      if (path === '/run/secrets/empty') return '\n'
      if (path !== '/run/secrets/key') throw Object.assign(new Error('x'), { code: 'ENOENT' })
      return `${canary}\n`
    }

    test('every secret may be a file, whose last line end does not count', () => {
      const config = readConfig({ INTERCEPT_SECRET_FILE: '/run/secrets/key' }, { readFile })
      assert.equal(config.masterSecret, canary)
      const github = { GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET_FILE: '/run/secrets/key' }
      assert.equal(readConfig(github, { readFile }).github?.clientSecret, canary)
      for (const name of ['DATABASE_URL', 'SMTP_URL', 'GOOGLE_CLIENT_SECRET']) {
        assert.match(
          refusal({ [`${name}_FILE`]: '/run/secrets/none' }, readFile).join(),
          new RegExp(`^${name} cannot be read from /run/secrets/none: there is no such file`),
        )
      }
    })

    test('a missing or empty file, and a secret given twice, stop the start', () => {
      const file = (path: string) => refusal({ INTERCEPT_SECRET_FILE: path }, readFile).join()
      assert.match(file('/run/secrets/none'), /there is no such file\.$/)
      assert.match(file('/run/secrets/empty'), /the file is empty\.$/)
      const twice = { INTERCEPT_SECRET: canary, INTERCEPT_SECRET_FILE: '/run/secrets/key' }
      assert.deepEqual(refusal(twice, readFile), [
        'INTERCEPT_SECRET and INTERCEPT_SECRET_FILE are both set; keep one of them.',
      ])
    })

    test('a list of the settings tells that a secret comes from a file, and not what it is', () => {
      const lines = listSettings({ INTERCEPT_SECRET_FILE: '/run/secrets/key' })
      const line = lines.find(({ name }) => name === 'INTERCEPT_SECRET')
      assert.deepEqual([line?.value, line?.isSet], ['(set, from a file)', true])
    })
  })

  test('a Node below the security floor is refused', () => {
    assert.throws(() => readConfig({}, { nodeVersion: '24.20.3' }), ConfigError)
    assert.throws(() => readConfig({}, { nodeVersion: '22.99.0' }), ConfigError)
    assert.doesNotThrow(() => readConfig({}, { nodeVersion: '24.21.0' }))
    assert.doesNotThrow(() => readConfig({}, { nodeVersion: '26.10.0' }))
  })

  test('all wrong settings are named at once', () => {
    assert.equal(refusal({ PORT: 'x', WORKERS: 'x', BASE_URL: 'x' }).length, 3)
  })

  test('a list of the settings never shows a secret', () => {
    const canary = 'postgres://intercept:canary-password@db/intercept'
    const lines = listSettings({ DATABASE_URL: canary, INTERCEPT_SECRET: canary })
    assert.doesNotMatch(JSON.stringify(lines), /canary/)
    assert.equal(lines.find((line) => line.name === 'DATABASE_URL')?.value, '(set)')
    assert.equal(lines.find((line) => line.name === 'LIMIT_URL')?.default, '8KiB')
  })
})

function refusal(
  env: Record<string, string>,
  readFile?: (path: string) => string,
): readonly string[] {
  try {
    readConfig(env, readFile === undefined ? {} : { readFile })
  } catch (error) {
    if (error instanceof ConfigError) return error.sentences
    throw error
  }
  return []
}
