import {
  createKeyCache,
  keyStateAt,
  readKey,
  schemeOfKey,
  schemes,
  type Grant,
  type Key,
  type KeyInput,
  type Quota,
} from '../../access/index.ts'
import { snakeCased, type Confirmation } from '../../store/index.ts'
import { parseCallsPerSeconds, parseDuration } from '../../units.ts'
import { command, need, read, UsageError } from '../lib/command.ts'
import { keysOf, organizationsOf } from '../lib/nouns.ts'
import { nearest } from '../lib/nearest.ts'
import { parseScheme } from '../lib/scheme.ts'
import { withServices, type Services } from '../lib/services.ts'
import { isoTime, renderTable, shortTime } from '../lib/table.ts'

const maxListed = 1000

export const commands = {
  issue: command({
    usage:
      '<org> --name NAME [--scheme x-api-key|bearer] [--grant TARGET[:METHOD,…]]… [--expires 90d|never] [--cidr RANGE]… [--rate 100/s] [--quota 10000/day]',
    about: 'issue a key; its secret is printed once',
    options: {
      name: { type: 'string', value: 'NAME', about: 'what the key is for' },
      scheme: { type: 'string', value: 'x-api-key|bearer', about: 'the header it travels in' },
      grant: {
        type: 'string',
        multiple: true,
        value: 'TARGET[:METHOD,…]',
        about: 'what it may call; may be given more than once. Without it: every target',
      },
      expires: {
        type: 'string',
        value: 'TIME',
        about: '90d from now, a date such as 2027-01-31, or never',
      },
      cidr: {
        type: 'string',
        multiple: true,
        value: 'RANGE',
        about: 'addresses it may come from; may be given more than once',
      },
      rate: { type: 'string', value: 'RATE', about: 'how many calls in which time, such as 100/s' },
      quota: {
        type: 'string',
        value: 'QUOTA',
        about: 'how many calls a day or a month, such as 10000/day or 1000000/month',
      },
    },
    examples: [
      'intercept key issue acme --name ci --grant payments:GET,POST --expires 90d',
      'intercept key issue acme --name partner --scheme bearer --cidr 203.0.113.0/24 --quota 10000/day',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const { rate, quota, expires } = values
      const input = {
        name: need('--name', values.name),
        scheme: values.scheme === undefined ? undefined : parseScheme(values.scheme),
        grants: values.grant?.map(parseGrant),
        cidrs: values.cidr,
        rateLimit: rate === undefined ? undefined : read('--rate', rate, parseCallsPerSeconds),
        quota: quota === undefined ? undefined : parseQuota(quota),
        expiresAt: expires === undefined ? undefined : parseEnd(expires),
      }
      return await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const { key, secret } = await (
          await keysOf(services)
        ).issue(organization.id, input, services.actor)
        const data = { ...present(key), secret: secret.reveal() }
        const text = [
          `Key ${key.name} (${key.id}) of ${organization.slug}. Its secret is shown now and never again:`,
          '',
          `  ${secret.reveal()}`,
          '',
          `Send it as ${schemes[key.scheme].header}${key.scheme === 'bearer' ? ' ' : ': '}<key>.`,
        ]
        return { data, text: text.join('\n') }
      })
    },
  }),
  list: command({
    usage: '<org>',
    about: "list an organization's keys, newest first",
    examples: ['intercept key list acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const found = await (await keysOf(services)).list(organization.id, { limit: maxListed })
        const rows = found.map((key) => [
          key.id,
          key.name,
          key.secrets[0]?.hint ?? '–',
          keyStateAt(key, Date.now()),
          shortTime(key.lastUsedAt),
          shortTime(key.expiresAt),
        ])
        const text = renderTable(
          ['ID', 'NAME', 'HINT', 'STATE', 'LAST USED (UTC)', 'ENDS'],
          rows,
          `No key yet; \`intercept key issue ${organization.slug} --name first\` issues one.`,
        )
        return { data: found.map(present), text }
      }),
  }),
  show: command({
    usage: '<key-id>',
    about: 'show one key: what it may call, from where, until when, and who used it last',
    examples: ['intercept key show key_01hzy3k9v6m2d8q4t7w0x5c1bn'],
    run: async ({ positionals: [id = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const keys = await keysOf(services)
        const key = await keys.get(await keys.organizationOf(id), id)
        return { data: present(key), text: keyText(key) }
      }),
  }),
  edit: command({
    usage:
      '<key-id> [--name NAME] [--grant TARGET[:METHOD,…] | --all-targets] [--expires 90d|never] [--cidr RANGE | --any-address] [--rate 100/s|none] [--quota 10000/day|none]',
    about: 'change what a key may do; what is left out stays. Done when every node knows',
    options: {
      name: { type: 'string', value: 'NAME', about: 'what the key is for' },
      grant: {
        type: 'string',
        multiple: true,
        value: 'TARGET[:METHOD,…]',
        about: 'what it may call, instead of before; may be given more than once',
      },
      'all-targets': { type: 'boolean', about: 'let it call every target' },
      expires: { type: 'string', value: 'TIME', about: '90d from now, a date, or never' },
      cidr: {
        type: 'string',
        multiple: true,
        value: 'RANGE',
        about: 'addresses it may come from, instead of before; may be given more than once',
      },
      'any-address': { type: 'boolean', about: 'let it come from any address' },
      rate: {
        type: 'string',
        value: 'RATE',
        about: 'how many calls in which time, such as 100/s, or none',
      },
      quota: {
        type: 'string',
        value: 'QUOTA',
        about: 'how many calls a day or a month, such as 10000/day, or none',
      },
    },
    examples: [
      'intercept key edit key_01hzy3k9v6m2d8q4t7w0x5c1bn --expires 90d --rate 10/s',
      'intercept key edit key_01hzy3k9v6m2d8q4t7w0x5c1bn --grant payments:GET --any-address',
    ],
    run: async ({ values, positionals: [id = ''] }, terminal) => {
      const change = parseChange(values)
      return await withServices(terminal, async (services) => {
        const keys = await keysOf(services)
        const organizationId = await keys.organizationOf(id)
        const before = await keys.get(organizationId, id)
        const input = { ...before, ...change }
        const { actor } = services
        const edit = { input, actor, expectedVersion: before.version }
        const key = await keys.edit(organizationId, id, edit)
        return {
          data: present(key),
          text: `Key ${key.name} (${key.id}) is changed.\n${keyText(key)}`,
        }
      })
    },
  }),
  rotate: command({
    usage: '<key-id> [--overlap 24h]',
    about: 'give a key a new secret; the old one stays valid for the overlap',
    options: {
      overlap: {
        type: 'string',
        default: '24h',
        value: 'TIME',
        about: 'how long the old secret stays valid',
      },
    },
    examples: ['intercept key rotate key_01hzy3k9v6m2d8q4t7w0x5c1bn --overlap 24h'],
    run: async ({ values, positionals: [id = ''] }, terminal) => {
      const overlapMs = read('--overlap', values.overlap, parseDuration)
      return await withServices(terminal, async (services) => {
        const keys = await keysOf(services)
        const organizationId = await keys.organizationOf(id)
        const rotated = await keys.rotate(organizationId, id, {
          overlapMs,
          actor: services.actor,
        })
        const { key, secret, confirmation } = rotated
        const until = services.clock.now() + overlapMs
        const old =
          overlapMs === 0
            ? 'The old one is refused from now on.'
            : `The old one is valid until ${shortTime(until)} UTC.`
        return {
          data: {
            ...present(key),
            secret: secret.reveal(),
            old_secret_valid_until: isoTime(until),
            ...presentConfirmation(confirmation),
          },
          text: `The new secret of ${key.name} (${key.id}), shown now and never again:\n\n  ${secret.reveal()}\n\n${old}`,
        }
      })
    },
  }),
  revoke: command({
    usage: '<key-id>',
    about: 'revoke a key for good; done when every node refuses it',
    examples: ['intercept key revoke key_01hzy3k9v6m2d8q4t7w0x5c1bn'],
    run: async ({ positionals: [id = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const keys = await keysOf(services)
        const organizationId = await keys.organizationOf(id)
        const { key, confirmation } = await keys.revoke(organizationId, id, services.actor)
        return {
          data: { ...present(key), ...presentConfirmation(confirmation) },
          text: `Key ${key.name} (${key.id}) is revoked; ${sayConfirmed(confirmation)}.`,
        }
      }),
  }),
  check: command({
    usage: '',
    about: 'read a key from standard input, and say whose it is and whether it works',
    examples: ['echo "$KEY" | intercept key check'],
    run: async (_call, terminal) => {
      const text = await terminal.readInput()
      return await withServices(terminal, async (services) => {
        const { expiresAt, organization, ...key } = await identify(services, text)
        return {
          data: { ...key, organization, expires_at: isoTime(expiresAt), state: 'active' },
          text: `${key.hint} is the key ${key.name} (${key.id}) of ${organization}, and works.`,
        }
      })
    },
  }),
}

/** Parses the changes for `key edit`; no change at all is wrong usage. */
function parseChange(values: {
  readonly name?: string | undefined
  readonly grant?: string[] | undefined
  readonly 'all-targets'?: boolean | undefined
  readonly expires?: string | undefined
  readonly cidr?: string[] | undefined
  readonly 'any-address'?: boolean | undefined
  readonly rate?: string | undefined
  readonly quota?: string | undefined
}): Partial<KeyInput> {
  const { name, grant, expires, cidr, rate, quota } = values
  const isAll = values['all-targets'] === true
  const isAny = values['any-address'] === true
  if (isAll && grant !== undefined) throw new UsageError('Either --grant or --all-targets')
  if (isAny && cidr !== undefined) throw new UsageError('Either --cidr or --any-address')
  const change: Partial<KeyInput> = {
    ...(name === undefined ? {} : { name }),
    ...(grant === undefined && !isAll ? {} : { grants: grant?.map(parseGrant) }),
    ...(cidr === undefined && !isAny ? {} : { cidrs: cidr }),
    ...(expires === undefined ? {} : { expiresAt: parseEnd(expires) ?? undefined }),
    ...(rate === undefined
      ? {}
      : { rateLimit: rate === 'none' ? undefined : read('--rate', rate, parseCallsPerSeconds) }),
    ...(quota === undefined ? {} : { quota: quota === 'none' ? undefined : parseQuota(quota) }),
  }
  if (Object.keys(change).length === 0) throw new UsageError('Say what is to change')
  return change
}

/** Formats all details of a key, except its secret, for people. */
function keyText(key: Key): string {
  const { grants, cidrs, rateLimit, quota } = key
  const rows: [string, string][] = [
    ['Key', `${key.name} (${key.id})`],
    ['Hint', key.secrets[0]?.hint ?? '–'],
    ['State', keyStateAt(key, Date.now())],
    ['May call', grants?.map(grantText).join(', ') ?? 'every target'],
    ['From', cidrs?.join(', ') ?? 'any address'],
    ['Rate', rateLimit ? `${rateLimit.calls} calls in ${rateLimit.perSeconds} s` : 'not limited'],
    ['Quota', quota ? `${quota.calls} calls a ${quota.period}` : 'none'],
    ['Created', `${shortTime(key.createdAt)} UTC`],
    ['Ends', key.expiresAt === undefined ? 'never' : `${shortTime(key.expiresAt)} UTC`],
    ['Last used', key.lastUsedAt === undefined ? 'never' : lastUseText(key, key.lastUsedAt)],
  ]
  return rows.map(([name, value]) => `${name.padEnd(10)} ${value}`).join('\n')
}

function grantText({ target, methods }: Grant): string {
  return methods === undefined ? target : `${target}:${methods.join(',')}`
}

function lastUseText(key: Key, at: number): string {
  return `${shortTime(at)} UTC from ${key.lastUsedAddress ?? 'an unknown address'}`
}

/** Identifies a working key in the database, or over the API by calling the gateway with it from this machine. */
async function identify(services: Services, text: string) {
  const { remote } = services
  const isBearer = schemeOfKey(text) === 'bearer'
  if (remote !== undefined) {
    const { whoIs } = await import('../remote/keys.ts')
    return await whoIs(
      remote,
      isBearer ? { authorization: `Bearer ${text}` } : { 'x-api-key': text },
    )
  }
  const enabledSchemes = services.config.keySchemes
  const headers = isBearer
    ? { xApiKey: [], authorization: [`Bearer ${text}`] }
    : { xApiKey: [text], authorization: [] }
  const keyCache = createKeyCache({ ...services, enabledSchemes, capacity: 1 })
  const principal = await keyCache.identify(readKey(headers, enabledSchemes))
  const { keyId: id, name, hint, organizationSlug: organization, expiresAt } = principal
  return { id, name, hint, organization, expiresAt }
}

const grantMethods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Parses a grant: a target, alone or with methods, such as `echo:GET,POST`. */
function parseGrant(text: string): Grant {
  const [target = '', methods] = text.split(':')
  if (target === '') throw new UsageError('--grant must be TARGET or TARGET:METHOD,METHOD')
  if (methods === undefined) return { target }
  const names = methods.split(',').map((method) => method.trim().toUpperCase())
  const wrong = names.find((name) => !grantMethods.includes(name))
  if (wrong !== undefined) {
    const meant = nearest(wrong, grantMethods)
    throw new UsageError(
      meant === undefined
        ? `--grant knows no method ${wrong || '""'}, only ${grantMethods.join(', ')}`
        : `--grant knows no method ${wrong}; did you mean ${meant}?`,
    )
  }
  return { target, methods: names }
}

function parseQuota(text: string): Quota {
  const [, calls, period] = /^(\d{1,12})\/(day|month)$/.exec(text) ?? []
  if (calls === undefined)
    throw new UsageError('--quota must be such as 10000/day or 1000000/month')
  return { calls: Number(calls), period: period === 'month' ? 'month' : 'day' }
}

/** Parses a duration such as `90d` from now, a date, or `never`. */
function parseEnd(text: string): number | null {
  if (text === 'never') return null
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? Date.now() + read('--expires', text, parseDuration) : date
}

function present(key: Key) {
  return {
    id: key.id,
    name: key.name,
    hint: key.secrets[0]?.hint ?? null,
    scheme: key.scheme,
    state: keyStateAt(key, Date.now()),
    grants: key.grants ?? null,
    cidrs: key.cidrs ?? null,
    rate_limit: snakeCased(key.rateLimit ?? null),
    quota: key.quota ?? null,
    created_at: isoTime(key.createdAt),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
    last_used_at: isoTime(key.lastUsedAt),
  }
}

function presentConfirmation(confirmation: Confirmation) {
  return {
    nodes: confirmation.nodes,
    silent_nodes: confirmation.silentNodes,
    took_ms: confirmation.tookMs,
  }
}

function sayConfirmed({ nodes, silentNodes, tookMs }: Confirmation): string {
  if (silentNodes > 0) {
    return `${nodes} nodes refuse it, and ${silentNodes} that did not answer trust nothing any more (after ${tookMs} ms)`
  }
  if (nodes === 0) return 'no node is running'
  return `refused on ${nodes === 1 ? 'the one node' : `all ${nodes} nodes`} after ${tookMs} ms`
}
