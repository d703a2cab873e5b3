/** All settings: read once from the environment and parsed; an invalid one is reported in one sentence. */
import { resolve } from 'node:path'
import { misspeltWarnings, misspelt, type KnownNames } from './setting-names.ts'
import { telemetryTable } from './setting-telemetry.ts'
import { readSecretFile, textOfFile, type ReadFile } from './setting-files.ts'
import {
  complainAboutNode,
  complainAboutPairs,
  isLoopback,
  parseCallRecords,
  parseCount,
  parseDatabaseUrl,
  parseDurationUpTo,
  parseMasterSecrets,
  parseOff,
  parseOneOf,
  parseOrigin,
  parsePort,
  parseRanges,
  parseRate,
  parseSchemes,
  parseText,
  parseTrustedProxies,
  parseUrlOf,
  secret,
  setting,
  type Setting,
} from './setting.ts'
import { dayMs, hourMs, parseSize } from './units.ts'

// A retention of 0 would delete everything; whoever writes it may mean the opposite.
const parseRetention = parseDurationUpTo(Infinity, 1000)

type Environment = Readonly<Record<string, string | undefined>>

/** Thrown for invalid settings; its message has a sentence for each. */
export class ConfigError extends Error {
  readonly sentences: readonly string[]

  constructor(sentences: readonly string[]) {
    super(sentences.join('\n'))
    this.name = 'ConfigError'
    this.sentences = sentences
  }
}

const table = {
  HOST: setting('127.0.0.1', 'address to listen on', parseText),
  PORT: setting('8080', 'port to listen on', parsePort),
  METRICS_PORT: setting('off', 'port of /metrics, /healthz and /readyz', parseOff(parsePort)),
  METRICS_TARGETS: setting(
    '100',
    'targets that have series of their own in /metrics; the calls of further ones are counted together',
    parseCount(0, 2000),
  ),
  BASE_URL: setting(
    '',
    'where people and programs reach this (default: PORT on localhost)',
    parseOrigin,
  ),
  AUTH_URL: setting('', 'the identity address (default: BASE_URL)', parseOrigin),
  DATA_DIR: setting('./data', 'folder of the SQLite database and of secret.key', (text) =>
    resolve(text),
  ),
  DATABASE_URL: secret('', 'postgres://… (default: SQLite in DATA_DIR)', parseDatabaseUrl),
  INTERCEPT_SECRET: secret(
    '',
    'seals secrets at rest; of several (commas) the first seals, each opens (default: DATA_DIR/secret.key)',
    parseMasterSecrets,
  ),
  KEY_SCHEMES: setting('x-api-key,bearer', 'key schemes that are on', parseSchemes),
  SESSION_FORMAT: setting('jwt', 'jwt or opaque', parseOneOf(['jwt', 'opaque'])),
  SIGN_UP: setting('invited', 'invited or open', parseOneOf(['invited', 'open'])),
  SMTP_URL: secret(
    '',
    'smtp://user:password@host:port for invitations',
    parseUrlOf(['smtp:', 'smtps:']),
  ),
  TRUSTED_PROXIES: setting(
    '0',
    'how many proxies stand in front, or their ranges',
    parseTrustedProxies,
  ),
  FORWARDED_HOST: setting(
    'x-forwarded-host',
    "where a trusted proxy says the called host: x-forwarded-host, or host if it leaves a caller's X-Forwarded-Host as it is",
    parseOneOf(['x-forwarded-host', 'host']),
  ),
  OUTBOUND_ALLOW_CIDRS: setting(
    '',
    'private ranges that upstreams, endpoints and IdPs may be in',
    parseRanges,
  ),
  WORKERS: setting('1', 'processes on this machine', parseCount(1, 64)),
  HTTP_LANE: setting(
    'plain',
    'plain, or standard: every request through node:http, should the fast lane ever err',
    parseOneOf(['plain', 'standard']),
  ),
  LOG_LEVEL: setting(
    'info',
    'trace, debug, info, warn, error, fatal or silent',
    parseOneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  ),
  GITHUB_CLIENT_ID: setting('', 'sign-in with GitHub', parseText),
  GITHUB_CLIENT_SECRET: secret('', 'sign-in with GitHub', parseText),
  GITHUB_URL: setting('https://github.com', 'GitHub, or a GitHub Enterprise server', parseOrigin),
  GITHUB_API_URL: setting('https://api.github.com', 'its API', parseUrlOf(['https:', 'http:'])),
  GOOGLE_CLIENT_ID: setting('', 'sign-in with Google', parseText),
  GOOGLE_CLIENT_SECRET: secret('', 'sign-in with Google', parseText),
  GOOGLE_ISSUER: setting(
    'https://accounts.google.com',
    'its issuer',
    parseUrlOf(['https:', 'http:']),
  ),
  ...telemetryTable,

  LIMIT_SESSION: setting(
    '24h',
    'a dashboard session lasts at most',
    parseDurationUpTo(dayMs, 1000),
  ),
  LIMIT_SESSION_IDLE: setting(
    '2h',
    'an opaque session without use ends after',
    parseDurationUpTo(dayMs, 1000),
  ),
  LIMIT_REQUEST_HEAD: setting('16KiB', 'request line and headers', parseSize),
  LIMIT_URL: setting('8KiB', 'path and query', parseSize),
  LIMIT_BODY: setting('100MiB', 'forwarded body, unless the target says otherwise', parseSize),
  LIMIT_JSON_BODY: setting('256KiB', 'body of the API', parseSize),
  LIMIT_JSON_DEPTH: setting('32', 'nesting of a JSON body', parseCount(1, 1000)),
  LIMIT_SCIM: setting('100/s', 'SCIM requests per token; off for tests', parseOff(parseRate)),
  LIMIT_SCIM_TOKENS: setting('5', 'active SCIM tokens per organization', parseCount(1, 100)),
  LIMIT_SCIM_BODY: setting('1MiB', 'SCIM body', parseSize),
  LIMIT_SCIM_BULK_BODY: setting('1MiB', 'body of a SCIM bulk request', parseSize),
  LIMIT_SCIM_BULK_OPERATIONS: setting(
    '1000',
    'operations of a SCIM bulk request',
    parseCount(1, 10_000),
  ),
  LIMIT_SCIM_FILTER: setting('2048', 'characters of a SCIM filter', parseCount(64, 65_536)),
  LIMIT_SCIM_FILTER_DEPTH: setting('16', 'nesting of a SCIM filter', parseCount(1, 64)),
  LIMIT_WEBHOOK_BODY: setting('64KiB', 'body of a delivery', parseSize),
  LIMIT_WEBHOOK_ENDPOINTS: setting(
    '50',
    'webhook endpoints per organization',
    parseCount(1, 10_000),
  ),
  LIMIT_FAILED_CREDENTIALS: setting(
    '20/s burst 100',
    'failed credentials, and failed sign-ins, per address; off for tests',
    parseOff(parseRate),
  ),
  LIMIT_KEEP_ALIVE: setting(
    '75s',
    'a connection without a request is kept for this long; more than the balancer in front keeps it',
    parseDurationUpTo(hourMs, 1000),
  ),
  LIMIT_DRAIN: setting(
    '30s',
    'open requests get this long after SIGTERM',
    parseDurationUpTo(hourMs),
  ),

  LAME_DUCK: setting(
    '0s',
    'after SIGTERM, /readyz is 503 for this long while requests are still taken (5s in the image)',
    parseDurationUpTo(600_000),
  ),

  CALL_RECORDS: setting(
    'all',
    'which calls leave a record, unless the target says otherwise: all, refused, sampled 1/n or none',
    parseCallRecords,
  ),
  RETENTION_CALLS: setting(
    '30d',
    'call records, and counts of calls by key and target, are kept',
    parseRetention,
  ),
  RETENTION_DELIVERIES: setting(
    '30d',
    'ended deliveries and their events are kept',
    parseRetention,
  ),
  RETENTION_AUDIT: setting('400d', 'audit entries are kept', parseRetention),
} as const

type Name = keyof typeof table
type Parsed = { [N in Name]: ReturnType<(typeof table)[N]['parse']> | undefined }
/** The parsed value of a setting that has a default. */
type Given<N extends Name> = NonNullable<Parsed[N]>

/** The settings as the product uses them. Times are milliseconds, sizes bytes; undefined means off or not set. */
export type Config = ReturnType<typeof compose>

/** What reading the settings depends on besides the environment. */
export interface ConfigSource {
  readonly nodeVersion?: string
  readonly readFile?: ReadFile
}

/** Reads all settings; throws a ConfigError that names every invalid one. */
export function readConfig(env: Environment, source: ConfigSource = {}): Config {
  const { nodeVersion = process.versions.node, readFile = readSecretFile } = source
  const wrong = complainAboutNode(nodeVersion)
  const parsed: Partial<Record<Name, unknown>> = {}
  for (const name of names()) {
    try {
      parsed[name] = parseSetting(name, env, readFile)
    } catch (error) {
      wrong.push(`${name} ${error instanceof Error ? error.message : 'is wrong'}.`)
    }
  }
  wrong.push(...misspelt(env, known()), ...complainAboutPairs(env))
  if (wrong.length > 0) throw new ConfigError(wrong)
  // Each value came from its own setting's parser above.
  return compose(parsed as Parsed)
}

/** One line of `doctor`: a setting with its current and default values; secrets are not shown. */
export interface SettingLine {
  readonly name: string
  readonly value: string
  readonly default: string
  readonly about: string
  readonly isSet: boolean
  /** The origin of the value: `default`, `environment`, or the path of the file that contains the secret. */
  readonly source: string
  readonly isSecret: boolean
}

export function listSettings(env: Environment): SettingLine[] {
  return names().map((name) => {
    const { fallback, about, secret: isSecret } = table[name] as Setting<unknown>
    const text = env[name]?.trim() ?? ''
    const path = isSecret === true ? env[`${name}_FILE`]?.trim() : undefined
    const isSet = text !== '' || Boolean(path)
    const hidden = path ? '(set, from a file)' : '(set)'
    const value = isSet && isSecret === true ? hidden : text || fallback || '(not set)'
    const source = path || (isSet ? 'environment' : 'default')
    return {
      ...{ name, value, default: fallback || '(not set)', about, isSet, source },
      isSecret: isSecret === true,
    }
  })
}

/** Returns warnings about allowed but unusual settings, for the start log. */
export function remarks(config: Config): string[] {
  const found: string[] = []
  if (config.loopbackIsOpen) {
    found.push(
      'BASE_URL is on this machine, so targets and endpoints may be on loopback addresses too.',
    )
  }
  if (config.baseUrl.startsWith('http:')) {
    found.push(
      'Without https, Safari does not keep the sign-in cookie; other browsers do on localhost.',
    )
  }
  if (config.github === undefined && config.google === undefined) {
    found.push(
      'No sign-in provider is configured; `intercept sign-in-link <email>` lets people in.',
    )
  }
  return found
}

/**
 * Returns warnings about names that nearly match a short setting such as PORT. Such names are never refused, because
 * other programs share the environment.
 */
export function suspicions(env: Environment): string[] {
  return misspeltWarnings(env, known())
}

function known(): KnownNames {
  const isSecret = (name: Name) => (table[name] as Setting<unknown>).secret === true
  return { settings: names(), secrets: names().filter(isSecret) }
}

function compose(parsed: Parsed) {
  const given = givenBy(parsed)
  const port = given('PORT')
  const baseUrl = parsed.BASE_URL ?? `http://localhost:${port}`
  return {
    host: given('HOST'),
    port,
    metricsPort: parsed.METRICS_PORT,
    metricsTargets: given('METRICS_TARGETS'),
    baseUrl,
    /** Whether the base URL follows the port that is actually used, because BASE_URL is not set. */
    baseUrlFollowsPort: parsed.BASE_URL === undefined,
    authUrl: parsed.AUTH_URL ?? baseUrl,
    dataDir: given('DATA_DIR'),
    databaseUrl: parsed.DATABASE_URL,
    masterSecret: parsed.INTERCEPT_SECRET,
    keySchemes: given('KEY_SCHEMES'),
    sessionFormat: given('SESSION_FORMAT'),
    signUp: given('SIGN_UP'),
    smtpUrl: parsed.SMTP_URL,
    trustedProxies: given('TRUSTED_PROXIES'),
    forwardedHost: given('FORWARDED_HOST'),
    outboundAllowCidrs: parsed.OUTBOUND_ALLOW_CIDRS ?? [],
    /** BASE_URL on loopback means a trial on one machine, so upstreams and receivers may be on loopback too. */
    loopbackIsOpen: isLoopback(new URL(baseUrl).hostname),
    workers: given('WORKERS'),
    httpLane: given('HTTP_LANE'),
    logLevel: given('LOG_LEVEL'),
    github: provider(parsed.GITHUB_CLIENT_ID, parsed.GITHUB_CLIENT_SECRET, {
      url: given('GITHUB_URL'),
      apiUrl: given('GITHUB_API_URL'),
    }),
    google: provider(parsed.GOOGLE_CLIENT_ID, parsed.GOOGLE_CLIENT_SECRET, {
      issuer: given('GOOGLE_ISSUER'),
    }),
    /** How long a stopping node accepts requests that a load balancer still sends. */
    lameDuckMs: given('LAME_DUCK'),
    otlpLogsEndpoint: parsed.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
    otlpEndpoint: parsed.OTEL_EXPORTER_OTLP_ENDPOINT,
    accessLog: parsed.ACCESS_LOG,
    telemetry: {
      otlpHeaders: parsed.OTEL_EXPORTER_OTLP_HEADERS ?? {},
      serviceName: parsed.OTEL_SERVICE_NAME,
      resourceAttributes: parsed.OTEL_RESOURCE_ATTRIBUTES ?? {},
      sampler: given('OTEL_TRACES_SAMPLER'),
      samplerRatio: given('OTEL_TRACES_SAMPLER_ARG'),
    },
    limits: limitsOf(parsed),
    callRecords: given('CALL_RECORDS'),
    retention: {
      callsMs: given('RETENTION_CALLS'),
      deliveriesMs: given('RETENTION_DELIVERIES'),
      auditMs: given('RETENTION_AUDIT'),
    },
  } as const
}

function givenBy(parsed: Parsed) {
  return <N extends Name>(name: N): Given<N> => {
    const value = parsed[name]
    if (value === undefined) throw new Error(`${name} has no default`)
    return value
  }
}

function limitsOf(parsed: Parsed) {
  const given = givenBy(parsed)
  return {
    sessionMs: given('LIMIT_SESSION'),
    sessionIdleMs: given('LIMIT_SESSION_IDLE'),
    requestHeadBytes: given('LIMIT_REQUEST_HEAD'),
    urlBytes: given('LIMIT_URL'),
    bodyBytes: given('LIMIT_BODY'),
    jsonBodyBytes: given('LIMIT_JSON_BODY'),
    jsonDepth: given('LIMIT_JSON_DEPTH'),
    scim: parsed.LIMIT_SCIM,
    scimTokens: given('LIMIT_SCIM_TOKENS'),
    scimBodyBytes: given('LIMIT_SCIM_BODY'),
    scimBulkBodyBytes: given('LIMIT_SCIM_BULK_BODY'),
    scimBulkOperations: given('LIMIT_SCIM_BULK_OPERATIONS'),
    scimFilterCharacters: given('LIMIT_SCIM_FILTER'),
    scimFilterDepth: given('LIMIT_SCIM_FILTER_DEPTH'),
    webhookBodyBytes: given('LIMIT_WEBHOOK_BODY'),
    webhookEndpoints: given('LIMIT_WEBHOOK_ENDPOINTS'),
    failedCredentials: parsed.LIMIT_FAILED_CREDENTIALS,
    drainMs: given('LIMIT_DRAIN'),
    keepAliveMs: given('LIMIT_KEEP_ALIVE'),
  } as const
}

function provider<T>(clientId: string | undefined, clientSecret: string | undefined, more: T) {
  return clientId === undefined || clientSecret === undefined
    ? undefined
    : { clientId, clientSecret, ...more }
}

function names(): Name[] {
  // The table is a literal, so its keys are exactly the names.
  return Object.keys(table) as Name[]
}

function parseSetting(name: Name, env: Environment, readFile: ReadFile): unknown {
  const { fallback, parse, secret: isSecret } = table[name] as Setting<unknown>
  const path = isSecret === true ? env[`${name}_FILE`]?.trim() : undefined
  const given = env[name]?.trim()
  if (path && given) throw new Error(`and ${name}_FILE are both set; keep one of them`)
  const text = (path ? textOfFile(path, readFile) : given) || fallback
  return text === '' ? undefined : parse(text)
}
