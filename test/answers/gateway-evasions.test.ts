// Attempts to evade the gateway's checks.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { forwardCall } from '../../src/gateway/forward-call.ts'
import { gatewayForTests, prefix, until } from '../harness/gateway.ts'
import type { TestGateway } from '../harness/gateway.ts'
import { exchangeRaw } from '../harness/raw.ts'
import { rawUpstream } from '../harness/upstream.ts'

describe('the decision for a proxy that appends the path', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await gatewayForTests({
      target: ['--rule', 'deny * /admin/*', '--rule', 'deny DELETE /*', '--rule', 'allow * /*'],
    })
    await gateway.run('target', 'set', 'acme', 'open', '--upstream', gateway.upstream.url)
  })
  after(async () => gateway[Symbol.asyncDispose]())

  test('CVE-2026-40575: the caller’s own query names no other target', async () => {
    for (const query of ['?target=open', '?a=b&target=open', '?target=open&target=echo']) {
      const answer = await gateway.call(`/-/check/echo/admin/x${query}`, gateway.bearer)
      const { code } = (await answer.json()) as { code: string }
      assert.deepEqual([answer.status, code], [403, 'rule_denied'], query)
    }
    const fine = await gateway.call('/-/check/echo/x?target=missing', gateway.bearer)
    assert.equal(fine.status, 200)
    assert.equal(fine.headers.get('intercept-target'), 'echo')
  })

  test('CVE-2026-40575: the caller’s own header names no other method', async () => {
    for (const name of ['X-Original-Method', 'X-Forwarded-Method']) {
      const headers = { [name]: 'GET' }
      const answer = await gateway.call('/-/check/echo/x', gateway.bearer, {
        method: 'DELETE',
        headers,
      })
      const { code } = (await answer.json()) as { code: string }
      assert.deepEqual([answer.status, code], [400, 'path_ambiguous'], name)
    }
  })
})

describe('headers by another name', () => {
  test('no trailer is called like the credential that the target injects, or named in Connection', async () => {
    await using upstream = await rawUpstream((socket, text) => {
      if (text.includes('0\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    await using gateway = await gatewayForTests()
    const header = ['--header', 'X-Upstream-Token: ours']
    await gateway.run('target', 'set', 'acme', 'raw', '--upstream', upstream.url, ...header)
    await exchangeRaw(
      gateway.product.port,
      `POST ${prefix}/raw/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n` +
        'Transfer-Encoding: chunked\r\nConnection: X-Hop\r\n\r\n2\r\nhi\r\n0\r\nX-Checksum: 1\r\n' +
        'X-Upstream-Token: theirs\r\nx_upstream_token: theirs\r\nX-Hop: theirs\r\n\r\n',
    )
    assert.match(upstream.received(), /X-Upstream-Token: ours\r\n[^]*X-Checksum: 1\r\n/)
    assert.doesNotMatch(upstream.received(), /theirs/)
  })

  test('a trailer says nothing that a header may not say', async () => {
    await using upstream = await rawUpstream((socket, text) => {
      if (text.includes('0\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    await using gateway = await gatewayForTests()
    await gateway.run('target', 'set', 'acme', 'raw', '--upstream', upstream.url)
    const answer = await exchangeRaw(
      gateway.product.port,
      `POST ${prefix}/raw/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Checksum: 1\r\n' +
        'X-API-Key: trailing\r\nX-Forwarded-For: trailing\r\nCookie: trailing\r\n' +
        'Intercept_Organization: trailing\r\nX-HTTP-Method-Override: trailing\r\n\r\n',
    )
    assert.match(answer, /^HTTP\/1\.1 200 /)
    assert.match(upstream.received(), /X-Checksum: 1\r\n/)
    assert.doesNotMatch(upstream.received(), /trailing/)
  })

  test('more trailers than are read are refused, and end neither the process nor the body upstream', async () => {
    await using upstream = await rawUpstream(() => {})
    await using gateway = await gatewayForTests()
    await gateway.run('target', 'set', 'acme', 'raw', '--upstream', upstream.url)
    const trailers = (count: number): string =>
      Array.from({ length: count }, (_, at) => `X-${at}: 1\r\n`).join('')
    const ask = async (target: string, count: number): Promise<string> =>
      await exchangeRaw(
        gateway.product.port,
        `POST ${prefix}/${target}/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n` +
          `Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n${trailers(count)}\r\n`,
      )
    assert.match(await ask('raw', 257), /^HTTP\/1\.1 400 [^]*Intercept-Refused: bad_request\r\n/)
    assert.doesNotMatch(upstream.received(), /\r\n0\r\n/)
    assert.match(await ask('echo', 256), /^HTTP\/1\.1 200 /)
    await until(async () => {
      const list: unknown = await gateway.run('calls', 'list', 'acme')
      return (list as { code: string }[]).some(({ code }) => code === 'bad_request')
    })
  })

  test('nobody but a trusted proxy says where a call comes from, in any usual spelling', async () => {
    await using gateway = await gatewayForTests()
    const names = ['Client-IP', 'X-Forwarded', 'X_Client_IP', 'X-Original-Forwarded-For']
    const lines = names.map((name) => `${name}: 6.6.6.6\r\n`).join('')
    await gateway.raw(`GET {prefix}/x HTTP/1.1\r\nHost: localhost\r\n{key}\r\n${lines}\r\n`)
    assert.equal(gateway.upstream.seen.length, 1)
    assert.ok(!gateway.upstream.seen[0]?.rawHeaders.includes('6.6.6.6'))
  })

  for (const [proxies, caller] of [
    ['0', 'a stranger'],
    ['1', 'a caller behind a trusted proxy'],
  ] as const) {
    test(`P-fold: ${caller} names no other client, host, method or URL, in whatever spelling`, async () => {
      await using gateway = await gatewayForTests({ settings: { TRUSTED_PROXIES: proxies } })
      const spelled = forgedNames.flatMap((name) => [
        name,
        name.replaceAll('-', '_'),
        name.replaceAll('-', '.'),
        name.toUpperCase().replaceAll('-', "'"),
      ])
      const aliases = threeKept.flatMap((name) => [
        name.replaceAll('-', '_'),
        name.replaceAll('-', '.'),
      ])
      for (const names of inPieces([...spelled, ...aliases], 60)) {
        const lines = names.map((name) => `${name}: forged-canary\r\n`).join('')
        const said = await gateway.raw(
          `GET {prefix}/x HTTP/1.1\r\nHost: localhost\r\n{key}\r\n${lines}\r\n`,
        )
        assert.match(said, /^HTTP\/1\.1 200 /)
        const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
        const passed = raw.filter((_name, at) => raw[at + 1] === 'forged-canary')
        assert.deepEqual(passed, [])
      }
    })
  }

  test('P-fold: trailers are judged by folded names too', async () => {
    await using upstream = await rawUpstream((socket, text) => {
      if (text.includes('0\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    await using gateway = await gatewayForTests()
    await gateway.run('target', 'set', 'acme', 'raw', '--upstream', upstream.url)
    const names = [
      'intercept.key.id',
      'X.Forwarded.Host',
      'X-Override-URL',
      'Set.Cookie',
      'X.Api.Key',
    ]
    await exchangeRaw(
      gateway.product.port,
      `POST ${prefix}/raw/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${gateway.xApiKey.secret}\r\n` +
        `Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Checksum: 1\r\n` +
        `${names.map((name) => `${name}: trailing\r\n`).join('')}\r\n`,
    )
    assert.match(upstream.received(), /X-Checksum: 1\r\n/)
    assert.doesNotMatch(upstream.received(), /trailing/)
  })

  test("of what a trusted proxy appends to a caller's list, only its own element names protocol and host", async () => {
    await using gateway = await gatewayForTests({ settings: { TRUSTED_PROXIES: '1' } })
    const said = async (lines: string): Promise<(string | undefined)[]> => {
      await gateway.raw(`GET {prefix}/x HTTP/1.1\r\nHost: called.example\r\n{key}\r\n${lines}\r\n`)
      const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
      return [raw[raw.indexOf('X-Forwarded-Proto') + 1], raw[raw.indexOf('X-Forwarded-Host') + 1]]
    }
    const twice =
      'X-Forwarded-Proto: http\r\nX-Forwarded-Host: forged.example\r\n' +
      'X-Forwarded-Proto: https\r\nX-Forwarded-Host: api.example\r\n'
    assert.deepEqual(await said(twice), ['https', 'api.example'])
    const listed =
      'X-Forwarded-Proto: http, https\r\nX-Forwarded-Host: forged.example, api.example\r\n'
    assert.deepEqual(await said(listed), ['https', 'api.example'])
    const senseless = 'X-Forwarded-Proto: javascript\r\nX-Forwarded-Host: a/../b\r\n'
    assert.deepEqual(await said(senseless), ['http', 'called.example'])
  })

  test('FORWARDED_HOST=host takes the called host from Host, for a proxy that leaves X-Forwarded-Host to callers', async () => {
    await using gateway = await gatewayForTests({
      settings: { TRUSTED_PROXIES: '1', FORWARDED_HOST: 'host' },
    })
    await gateway.raw(
      'GET {prefix}/x HTTP/1.1\r\nHost: called.example\r\n{key}\r\nX-Forwarded-Host: forged.example\r\nX-Forwarded-Proto: https\r\n\r\n',
    )
    const raw = gateway.upstream.seen.at(-1)?.rawHeaders ?? []
    assert.equal(raw[raw.indexOf('X-Forwarded-Host') + 1], 'called.example')
    assert.equal(raw[raw.indexOf('X-Forwarded-Proto') + 1], 'https')
  })

  test('only blanks around a key are trimmed, no other white space', async () => {
    await using gateway = await gatewayForTests()
    const { secret } = gateway.xApiKey
    for (const [value, status] of [
      [` \t${secret} \t`, 200],
      [`\u00A0${secret}`, 401],
      [`${secret}\u00A0`, 401],
    ] as const) {
      const answer = await gateway.raw(
        `GET {prefix}/x HTTP/1.1\r\nHost: localhost\r\nX-API-Key:${value}\r\n\r\n`,
      )
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), JSON.stringify(value))
    }
  })

  test('a header that the target injects comes from the target alone, spelled with "_" or "-"', async () => {
    for (const injected of ['X_Token', 'X-Token']) {
      await using gateway = await gatewayForTests({ target: ['--header', `${injected}: ours`] })
      for (const sent of ['X_Token', 'X-Token', 'x_tOKEN']) {
        await gateway.raw(
          `GET {prefix}/x HTTP/1.1\r\nHost: localhost\r\n{key}\r\n${sent}: theirs\r\n\r\n`,
        )
        const said = String(gateway.upstream.seen.at(-1)?.rawHeaders.join('\n'))
        assert.match(said, /\nours(\n|$)/, injected)
        assert.doesNotMatch(said, /theirs/, `${injected} ${sent}`)
      }
    }
  })
})

test('a call that was cut while its assertion was signed reaches no upstream', async () => {
  const exchange = { finished: false, gone: false, rawHeaders: [] }
  const call = { exchange }
  const forwarding = { target: { settings: { assertion: true } } }
  const reached: unknown[] = []
  const deps = {
    assert: async () => {
      // Simulates that the key is revoked while the assertion is signed: the caller has already received its 401.
      exchange.finished = true
      return 'token'
    },
    origins: { of: (target: unknown) => reached.push(target) },
  }
  await new Promise<void>((resolve, reject) => {
    const ends = {
      finish: () => resolve(),
      refuse: (_call: unknown, error: Error) => reject(error),
    }
    forwardCall(call as never, forwarding as never, { ...deps, ...ends } as never)
  })
  assert.deepEqual(reached, [])
})

test('a URL that cannot be decoded is refused like everything else, with nothing of the framework in it', async () => {
  await using gateway = await gatewayForTests()
  for (const path of ['/api/v1/organizations/%ff', '/o/%', '/problems/%zz', '/scim/v2/Users/%ff']) {
    const answer = await exchangeRaw(
      gateway.product.port,
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 400 /, path)
    assert.match(answer, /\r\ncontent-type: application\/(problem|scim)\+json\r\n/i, path)
    assert.match(answer, /\r\nintercept-request-id: req_/i, path)
    assert.doesNotMatch(answer, /FST_|statusCode/, path)
  }
})

const threeKept = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']
const forgedNames = [
  'X-Real-IP',
  'Forwarded',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Client-IP',
  'X-Cluster-Client-IP',
  'Fastly-Client-IP',
  'Fly-Client-IP',
  'X-Azure-ClientIP',
  'X-Remote-Addr',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-Prefix',
  'X-Forwarded-Client-Cert',
  'Client-Cert',
  'X-SSL-Client-Cert',
  'SSL-Client-Verify',
  'X-Client-Certificate',
  'X-ARR-ClientCert',
  'X-Vercel-Forwarded-For',
  'Z-Forwarded-For',
  'DO-Connecting-IP',
  'CDN-Src-IP',
  'X-NF-Client-Connection-IP',
  'Incap-Client-IP',
  'X-Override-URL',
  'X-MS-Original-URL',
  'X-Original-URL',
  'X-Original-Host',
  'X-Host',
  'X-HTTP-Host-Override',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
  'Intercept-Key-Id',
  'Intercept-Organization-Id',
  'Intercept-Assertion',
]

function* inPieces<T>(list: readonly T[], size: number): Iterable<T[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

for (const engine of ['sqlite', 'postgres'] as const) {
  test(`a question about a target with U+0000 in its name stops no record on ${engine}`, async () => {
    await using gateway = await gatewayForTests({ engine })
    const headers = { 'X-Original-URI': '/a', 'X-Original-Method': 'GET' }
    const asked = await gateway.call('/-/check?target=a%00b', gateway.xApiKey, { headers })
    assert.equal(asked.status, 400)
    assert.equal((await gateway.call('/echo/after', gateway.xApiKey)).status, 200)
    const recorded = async (): Promise<unknown[]> => {
      const list: unknown = await gateway.run('calls', 'list', 'acme')
      return (list as { path: string }[]).map(({ path }) => path)
    }
    await until(async () => (await recorded()).length === 2)
    assert.deepEqual(await recorded(), [`${prefix}/echo/after`, `${prefix}/a\ufffdb/a`])
  })
}
