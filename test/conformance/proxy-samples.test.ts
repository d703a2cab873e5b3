// Tests the samples for proxies without running the proxies.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { droppedFromRequests } from '../../src/http/message/header-rules.ts'
import type { BrowserSigns } from '../../src/targets/call-origin.ts'
import { gatewayForTests } from '../harness/gateway.ts'
import { readSample } from '../harness/proxy-samples.ts'

const ownHeaders = [
  'intercept-organization',
  'intercept-organization-id',
  'intercept-key-id',
  'intercept-target',
  'intercept-request-id',
  'intercept-assertion',
]
/**
 * Headers that a sample need not remove: hop-by-hop and framing headers, those that proxies set themselves, and
 * `traceparent`, which decides nothing.
 */
const writtenByProxies = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authentication-info proxy-authorization te trailer transfer-encoding upgrade http2-settings host content-length expect traceparent x-forwarded-for x-forwarded-proto x-forwarded-host'.split(
    ' ',
  ),
)
const mustEnd = [...droppedFromRequests].filter((name) => !writtenByProxies.has(name))

/** The header behind each field of `BrowserSigns`; a new field does not compile until its header is named here. */
const headersOfSigns: Readonly<Record<keyof BrowserSigns, string>> = {
  secFetchSite: 'sec-fetch-site',
  accessControlRequestMethod: 'access-control-request-method',
}
const decidedBy = [
  'x-api-key',
  'authorization',
  'x-forwarded-for',
  ...Object.values(headersOfSigns),
]

interface Traefik {
  http: {
    routers: Record<string, { middlewares?: string[] }>
    middlewares: Record<
      string,
      {
        headers?: { customRequestHeaders: Record<string, string> }
        forwardAuth?: {
          address: string
          trustForwardHeader: boolean
          authResponseHeadersRegex: string
        }
      }
    >
  }
}

interface EnvoyFilter {
  name: string
  typed_config: {
    mutations?: { request_mutations: { remove?: string }[] }
    failure_mode_allow?: boolean
    http_service?: {
      path_prefix: string
      authorization_request: { allowed_headers: { patterns: { exact: string }[] } }
    }
  }
}

function envoyManager(): Record<string, unknown> & { http_filters: EnvoyFilter[] } {
  const sample = parse(readSample('envoy.yaml')) as {
    static_resources: { listeners: { filter_chains: { filters: { typed_config: never }[] }[] }[] }
  }
  const [filter] = sample.static_resources.listeners[0]?.filter_chains[0]?.filters ?? []
  assert.ok(filter)
  return filter.typed_config
}

describe('samples of proxies that ask for the decision', () => {
  for (const [sample, line] of [
    ['nginx.conf', (name: string) => new RegExp(`^ +proxy_set_header ${name} +\\S`, 'im')],
    ['check.Caddyfile', (name: string) => new RegExp(`^\\s+request_header -${name}$`, 'im')],
  ] as const) {
    test(`P-samples: ${sample} ends every header that the gateway itself would drop`, () => {
      const text = readSample(sample)
      for (const name of mustEnd) assert.match(text, line(name), name)
    })
  }

  test('P-samples: nginx.conf sets or clears each Intercept header', () => {
    const text = readSample('nginx.conf')
    for (const name of ownHeaders) {
      assert.match(text, new RegExp(`^ +proxy_set_header ${name} +\\S`, 'im'), name)
    }
  })

  test('P-samples: traefik.yaml (read as YAML: Traefik is not run here) clears first, asks second, forgets the key third', () => {
    const { routers, middlewares } = (parse(readSample('traefik.yaml')) as Traefik).http
    assert.deepEqual(routers['orders']?.middlewares, ['clear', 'intercept-check', 'without-key'])
    const cleared = middlewares['clear']?.headers?.customRequestHeaders ?? {}
    const names = new Map(Object.entries(cleared).map(([name, to]) => [name.toLowerCase(), to]))
    for (const name of mustEnd.filter((one) => one !== 'x-api-key' && one !== 'authorization')) {
      assert.equal(names.get(name), '', name)
      assert.equal(names.get(name.replaceAll('-', '_')), '', `${name} with _`)
      assert.equal(names.get(name.replaceAll('-', '.')), '', `${name} with .`)
    }
    const asking = middlewares['intercept-check']?.forwardAuth
    assert.equal(asking?.trustForwardHeader, false)
    // Go's regular expressions have (?i) instead of JavaScript's `i` flag.
    const own = new RegExp(asking?.authResponseHeadersRegex.replace('(?i)', '') ?? '$-', 'i')
    for (const name of [...ownHeaders, 'Intercept_Key_Id', 'intercept.assertion']) {
      assert.match(name, own)
    }
    assert.doesNotMatch('X-Intercept-Like', own)
    const keys = middlewares['without-key']?.headers?.customRequestHeaders
    assert.deepEqual(keys, { 'X-API-Key': '', Authorization: '' })
  })

  test('P-samples: envoy.yaml (read as YAML: Envoy is not run here) removes before it asks, and fails closed', () => {
    const manager = envoyManager()
    const names = manager.http_filters.map(({ name }) => name.split('.').at(-1))
    assert.deepEqual(names, ['header_mutation', 'ext_authz', 'router'])
    const [mutation, asking] = manager.http_filters
    const removed = new Set(
      mutation?.typed_config.mutations?.request_mutations.map(({ remove }) => remove),
    )
    const taken = mustEnd.filter((one) => one !== 'x-api-key' && one !== 'authorization')
    for (const name of [...ownHeaders, ...taken]) {
      assert.ok(removed.has(name), name)
      if (name.includes('-')) assert.ok(removed.has(name.replaceAll('-', '.')), `${name} with .`)
    }
    const underscores = manager['common_http_protocol_options'] as Record<string, string>
    assert.equal(underscores['headers_with_underscores_action'], 'REJECT_REQUEST')
    assert.equal(asking?.typed_config.failure_mode_allow, false)
    assert.deepEqual(manager['upgrade_configs'], [{ upgrade_type: 'websocket' }])
  })

  test('P-samples: proxies that show Intercept only listed headers list each that a check reads', () => {
    const { http_service: envoy } = envoyManager().http_filters[1]?.typed_config ?? {}
    const { spec } = parse(readSample('gateway-api.yaml')) as {
      spec: { rules: { filters: { externalAuth?: { http: { allowedHeaders: string[] } } }[] }[] }
    }
    const lists = {
      'envoy.yaml': envoy?.authorization_request.allowed_headers.patterns.map(({ exact }) => exact),
      'gateway-api.yaml': spec.rules[0]?.filters[0]?.externalAuth?.http.allowedHeaders,
    }
    for (const [sample, list = []] of Object.entries(lists)) {
      const shown = new Set(list.map((name) => name.toLowerCase()))
      for (const name of [...decidedBy, 'user-agent'])
        assert.ok(shown.has(name), `${sample}: ${name}`)
    }
  })

  test('P-samples: what Traefik and Envoy ask by their samples is decided, with a document for every refusal', async () => {
    await using gateway = await gatewayForTests({ settings: { TRUSTED_PROXIES: '1' } })
    const { url } = gateway.upstream
    const rules = ['--rule', 'deny DELETE /admin/*', '--rule', 'allow * /*']
    await gateway.run('target', 'set', 'acme', 'orders', '--upstream', url, ...rules)
    const elsewhere = await gateway.issue('--grant', 'echo')
    for (const [proxy, ask] of Object.entries(questions(gateway.product.port))) {
      const limited = await gateway.issue('--rate', '1/m')
      const good = gateway.xApiKey.secret
      assert.equal((await ask('GET', '/x?a=b', limited.secret)).status, 200, proxy)
      for (const [status, code, method, path, key] of [
        [200, null, 'POST', '/x?a=b', good],
        [400, 'path_ambiguous', 'GET', '/a%5Cb', good],
        [401, 'credential_missing', 'GET', '/x', undefined],
        [401, 'credential_invalid', 'GET', '/x', 'svc_live_wrong'],
        [403, 'rule_denied', 'DELETE', '/admin/x', good],
        [404, 'target_not_found', 'GET', '/x', elsewhere.secret],
        [429, 'rate_limited', 'GET', '/x', limited.secret],
      ] as const) {
        const response = await ask(method, path, key)
        const about = `${proxy}: ${method} ${path}`
        assert.equal(response.status, status, about)
        assert.equal(response.headers.get('intercept-refused'), code, about)
        if (code === null) continue
        const problem = JSON.parse(response.headers.get('intercept-problem') ?? '{}') as object
        assert.deepEqual({ ...problem, ...{ status, code } }, problem, about)
      }
    }
    assert.deepEqual(gateway.upstream.seen, [])
  })
})

type Ask = (method: string, path: string, key: string | undefined) => Promise<Response>

/**
 * Returns for each proxy a function that asks Intercept as the proxy would: Traefik sends a GET that describes the call
 * in headers, Envoy sends the call itself with a prefix before its path.
 */
function questions(port: number): Record<string, Ask> {
  const { middlewares } = (parse(readSample('traefik.yaml')) as Traefik).http
  const traefik = new URL(middlewares['intercept-check']?.forwardAuth?.address ?? '')
  const envoy = envoyManager().http_filters[1]?.typed_config.http_service?.path_prefix ?? ''
  const send = async (path: string, method: string, headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'X-Forwarded-For': '203.0.113.7', ...headers },
    })
    await response.arrayBuffer()
    return response
  }
  const withKey = (key: string | undefined) => (key === undefined ? {} : { 'X-API-Key': key })
  return {
    Traefik: async (method, path, key) =>
      await send(traefik.pathname + traefik.search, 'GET', {
        ...withKey(key),
        'X-Forwarded-Method': method,
        'X-Forwarded-Uri': path,
        'X-Forwarded-Host': 'orders.example.com',
        'X-Forwarded-Proto': 'https',
      }),
    Envoy: async (method, path, key) => await send(`${envoy}${path}`, method, withKey(key)),
  }
}
