import { stringify } from 'yaml'
import { fieldsToJson } from '../../src/access/index.ts'
import { createConfigurations, type Configurations } from '../../src/configuration/index.ts'
import { createAddressGuard, createOutbound } from '../../src/http/index.ts'
import type { Provider } from '../../src/oidc/index.ts'
import { createSealer } from '../../src/secrets/index.ts'
import type { Actor, Store } from '../../src/store/index.ts'
import { defaultSettings } from '../../src/targets/index.ts'
import { createLog } from '../../src/telemetry/index.ts'
import { exampleFields } from './key-examples.ts'

export const operator: Actor = { kind: 'operator', name: 'test' }
export const sealer = createSealer(['a master secret of the tests, long enough'])

/** Returns the secret for a reference in a generated file (`env:S_<n>`); undefined for any other reference. */
export function secretFor(reference: string): string | undefined {
  return reference.startsWith('env:S_') ? `canary-${reference.slice(6)}-9f3c1d77` : undefined
}

/** Creates configurations over a store, with identity providers that respond without a network. */
export function configurationsFor(store: Store, seals = sealer): Configurations {
  const reach = { allowLoopback: true }
  return createConfigurations({
    ...{ store, sealer: seals, clock: store.clock },
    log: createLog({ level: 'silent' }),
    guard: createAddressGuard(reach),
    outbound: createOutbound(reach),
    relyingParty: { provider: async (issuer: string) => providerOf(issuer) } as never,
    resolveTxt: async () => ({ kind: 'records', records: [] }) as never,
    authUrl: 'http://localhost:8080',
    allowLoopback: true,
    defaults: defaultSettings(100 * 1024 * 1024),
    maxEndpoints: undefined,
  })
}

function providerOf(issuer: string): Provider {
  return {
    issuer,
    authorizationEndpoint: `${issuer}/authorize`,
    tokenEndpoint: `${issuer}/token`,
    keysAddress: `${issuer}/keys`,
    userinfoEndpoint: undefined,
    endSessionEndpoint: undefined,
    algorithms: ['RS256'],
    clientAuthentication: ['client_secret_basic', 'private_key_jwt'],
    namesItself: false,
    backchannelLogout: false,
    scopes: undefined,
    hasPairwiseSubjects: false,
  }
}

type Random = () => number

/**
 * Example values for a key's fields, in the API's form. Only `grants` has another form in a configuration file, so
 * `fileOf` generates it.
 */
const exampleJson = fieldsToJson(exampleFields)

/** Generates a valid configuration file for an organization; the same random numbers give the same file. */
export function fileOf(random: Random, slug: string): string {
  const pick = <T>(...values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const some = <T>(value: () => T): T | undefined => (random() < 0.5 ? value() : undefined)
  const many = <T>(most: number, make: (n: number) => T): T[] =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, (_, n) => make(n))
  const reference = (): string => `env:S_${Math.floor(random() * 5)}`
  const rate = (): object => ({ calls: 1 + Math.floor(random() * 99), per_seconds: pick(1, 60) })
  const quota = () => ({ calls: 1 + Math.floor(random() * 9999), period: pick('day', 'month') })
  const rule = () =>
    `${pick('', 'trial ')}${pick('allow', 'deny')} ${pick('*', 'GET', 'get,POST')} ${pick('*', '/a/*', '/b%20c', '/x/*/y', '/caf%c3%a9/*', '/a%3Fb%3b%23', '/%2A/*', '/100%25', '/%252541')}`
  const target = () => ({
    name: some(() => pick('Payments', ' The API ', 'Zahlungen ü')),
    upstream: pick('http://127.0.0.1:8099', 'http://127.0.0.1:8099/base/', 'HTTP://127.0.0.1:81/x'),
    credential: some(() => ({ header: pick('Authorization', 'X-Key'), value: reference() })),
    rules: some(() => many(6, rule)),
    otherwise: some(() => pick('allow', 'refuse', null)),
    disabled: some(() => pick(true, false)),
    paths: some(() => pick('canonical', 'verbatim')),
    browsers: some(() => pick(true, false)),
    rate_limit: some(() => pick(rate(), null, { ...rate(), burst: 5 })),
    rate_scope: some(() => pick('all', 'node')),
    quota: some(() => pick(quota(), null)),
    body_bytes: some(() => pick(0, 1000)),
    connect_ms: some(() => pick(5000, 100)),
    records: some(() => pick('all', 'none', 'sampled 1/10')),
    assertion: some(() => pick(true, false)),
    response_headers: some(() => many(2, () => pick('Set-Cookie', 'alt-svc'))),
    capture: some(() =>
      pick(null, { headers: ['X-Trace', 'x-b'], body_bytes: pick(0, 9), redact: ['pin'] }),
    ),
  })
  const endpoint = (n: number) => ({
    url: `http://127.0.0.1:9000/${n}/${pick('a', 'b')}`,
    description: some(() => pick('orders', '')),
    types: some(() => pick(null, ['api_key.issued'], ['call.refused', 'quota.warning'])),
    headers: some(() => pick({}, { 'X-Hook': reference() })),
    rate_per_second: some(() => pick(null, 5)),
    ordered: some(() => pick(true, false)),
    asymmetric: some(() => pick(true, false)),
  })
  const connection = (n: number) => ({
    name: some(() => pick('Okta', 'Company')),
    issuer: pick(`http://localhost:7000/${n}`, 'http://localhost:7001'),
    client_id: pick('one', 'two'),
    client_secret: some(reference),
    scopes: some(() => pick(['openid'], ['openid', 'email', 'profile'])),
    claims: some(() => ({ email: pick('email', 'mail') })),
    ask_user_info: some(() => pick(true, false)),
    required_group: some(() => pick(null, 'staff')),
    group_roles: some(() => many(2, (m) => ({ group: `g${m}`, role: pick('admin', 'viewer') }))),
    session_maximum_seconds: some(() => pick(null, 3600)),
  })
  const key = (targets: readonly string[]) => ({
    ...Object.fromEntries(
      Object.entries(exampleJson).map(([name, value]) => [name, some(() => pick(null, value))]),
    ),
    name: some(() => pick('CI', 'Billing worker')),
    grants: some(() =>
      targets.length === 0 ? null : [pick(...targets), `${pick(...targets)}:get,POST`],
    ),
    rate_limit: some(() => pick(null, rate())),
    quota: some(() => pick(null, quota())),
    expires_at: some(() => pick(null, '2099-01-31', '2099-01-31T10:00:00Z')),
  })
  const named = <T>(prefix: string, most: number, make: (n: number) => T): Record<string, T> =>
    Object.fromEntries(many(most, (n) => [`${prefix}${n}`, make(n)] as const))
  const targets = named('t', 6, target)
  const connections = named('c', 2, connection)
  const at = Object.keys(connections)
  return stringify(
    {
      version: 1,
      organization: {
        slug,
        name: some(() => pick('Acme', 'Acme Inc')),
        plan: 'enterprise',
        rate_limit: some(() => pick(null, rate())),
      },
      key_defaults: some(() => ({
        scheme: some(() => pick('bearer', 'x-api-key')),
        expires_after_days: some(() => pick(null, 90)),
        cidrs: some(() => pick(null, ['10.0.0.0/8'])),
      })),
      targets,
      endpoints: named('e', 3, endpoint),
      connections,
      domains: Object.fromEntries(
        many(2, (n) => [
          `d${n}.${slug}.example`,
          { connection: some(() => (at.length === 0 ? null : pick(...at))) },
        ]),
      ),
      groups: Object.fromEntries(many(2, (n) => [`Group ${n}`, { role: pick('admin', 'viewer') }])),
      keys: named('k', 3, () => key(Object.keys(targets))),
    },
    { aliasDuplicateObjects: false, keepUndefined: false },
  )
}
