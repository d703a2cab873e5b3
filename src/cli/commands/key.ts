import {
  createKeyCache,
  fieldsToJson,
  keyStateAt,
  parseLabelFilter,
  readKey,
  schemeOfKey,
  schemes,
  type Key,
  type KeyInput,
} from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import { keys as keyRows, type Confirmation } from '../../store/index.ts'
import { parseDuration } from '../../units.ts'
import { command, need, read, readEnd, UsageError } from '../lib/command.ts'
import { fieldFlags, fieldLines, fieldUsage, readFields } from '../lib/key-flags.ts'
import { keysOf, organizationsOf } from '../lib/nouns.ts'
import { parseScheme } from '../lib/scheme.ts'
import { withServices, type Services } from '../lib/services.ts'
import { firstListed, isoTime, renderTable, shortTime } from '../lib/table.ts'
import { nameAndId, printableInLine } from '../lib/terminal.ts'

export const commands = {
  issue: command({
    usage: `<org> --name NAME [--scheme x-api-key|bearer] [--expires 90d|never] ${fieldUsage('issue')}`,
    about: 'issue a key; its secret is printed once',
    options: {
      name: { type: 'string', value: 'NAME', about: 'what the key is for' },
      scheme: { type: 'string', value: 'x-api-key|bearer', about: 'the header it travels in' },
      expires: {
        type: 'string',
        value: 'TIME',
        about: '90d from now, a date such as 2027-01-31, or never',
      },
      ...fieldFlags('issue'),
    },
    examples: [
      'intercept key issue acme --name ci --grant payments:GET,POST --expires 90d',
      'intercept key issue acme --name partner --scheme bearer --cidr 203.0.113.0/24 --quota 10000/day',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const { expires } = values
      const input = {
        name: need('--name', values.name),
        scheme: values.scheme === undefined ? undefined : parseScheme(values.scheme),
        ...readFields(values, 'issue'),
        expiresAt: expires === undefined ? undefined : parseEnd(expires),
      }
      return await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const { key, secret } = await (
          await keysOf(services)
        ).issue(organization.id, input, services.actor)
        const data = { ...present(key), secret: secret.reveal() }
        const text = [
          `Key ${nameAndId(key)} of ${organization.slug}. Its secret is shown now and never again:`,
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
    usage: '<org> [--label NAME[=VALUE]]…',
    about: "list an organization's keys, newest first",
    options: {
      label: {
        type: 'string',
        multiple: true,
        value: 'NAME[=VALUE]',
        about: 'only keys with this label; may be given more than once: all must hold',
      },
    },
    examples: ['intercept key list acme', 'intercept key list acme --label team=payments'],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const labels = values.label?.map((text) => parseLabelFilter(text, '='))
      return await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const keys = await keysOf(services)
        const found = await firstListed(
          terminal,
          async (limit) => await keys.list(organization.id, { limit, labels }),
          '`--label` finds fewer.',
        )
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
          labels === undefined
            ? `No key yet; \`intercept key issue ${organization.slug} --name first\` issues one.`
            : 'No key has these labels.',
        )
        return { data: found.map(present), text }
      })
    },
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
    usage: `<key-id> [--name NAME] [--expires 90d|never] ${fieldUsage('edit')}`,
    about: 'change what a key may do; what is left out stays. Done when every node knows',
    options: {
      name: { type: 'string', value: 'NAME', about: 'what the key is for' },
      expires: { type: 'string', value: 'TIME', about: '90d from now, a date, or never' },
      ...fieldFlags('edit'),
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
          text: `Key ${nameAndId(key)} is changed.\n${keyText(key)}`,
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
          text: `The new secret of ${nameAndId(key)}, shown now and never again:\n\n  ${secret.reveal()}\n\n${old}`,
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
          text: `Key ${nameAndId(key)} is revoked; ${sayConfirmed(confirmation)}.`,
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
          text: `${key.hint} is the key ${nameAndId(key)} of ${organization}, and works.`,
        }
      })
    },
  }),
}

/** Parses the changes for `key edit`; no change at all is wrong usage. */
function parseChange(
  values: Readonly<Record<string, unknown>> & {
    readonly name?: string | undefined
    readonly expires?: string | undefined
  },
): Partial<KeyInput> {
  const { name, expires } = values
  const change: Partial<KeyInput> = {
    ...(name === undefined ? {} : { name }),
    ...(expires === undefined ? {} : { expiresAt: parseEnd(expires) ?? undefined }),
    ...readFields(values, 'edit'),
  }
  if (Object.keys(change).length === 0) throw new UsageError('Say what is to change')
  return change
}

/** Formats the details of a key for people; `--json` has a few more. */
function keyText(key: Key): string {
  const rows: [string, string][] = [
    ['Key', nameAndId(key)],
    ['Hint', key.secrets[0]?.hint ?? '–'],
    ['State', keyStateAt(key, Date.now())],
    ...fieldLines(key),
    ['Created', `${shortTime(key.createdAt)} UTC`],
    ['Ends', key.expiresAt === undefined ? 'never' : `${shortTime(key.expiresAt)} UTC`],
    ['Last used', key.lastUsedAt === undefined ? 'never' : lastUseText(key, key.lastUsedAt)],
    ...otherLines(key),
  ]
  const width = Math.max(10, ...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)} ${printableInLine(value)}`).join('\n')
}

function otherLines(key: Key): [string, string][] {
  const shown: Readonly<Record<string, string | number | boolean | null>> = keyRows.shownOf(key)
  return Object.entries(shown)
    .filter(([name]) => !linesOfOwn.has(name))
    .map(([name, value]) => [
      name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' '),
      `${value ?? '–'}`,
    ])
}

/** Columns that other lines of `keyText` show, or that only `--json` shows. */
const linesOfOwn: ReadonlySet<string> = new Set([
  ...['created_at', 'created_by', 'personal_user_id', 'revoked_at', 'revoked_by'],
  ...['last_used_at', 'last_used_address', 'last_used_agent', 'last_used_target_id'],
])

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
  const presented = readKey(headers, enabledSchemes)
  if (presented instanceof Problem) throw presented
  const principal = await keyCache.identify(presented)
  const { name, hint } = await keyCache.describe(principal)
  const { keyId: id, organizationSlug: organization, expiresAt } = principal
  return { id, name, hint, organization, expiresAt }
}

function parseEnd(text: string): number | null {
  return readEnd('--expires', text, Date.now())
}

function present(key: Key) {
  return {
    id: key.id,
    name: key.name,
    hint: key.secrets[0]?.hint ?? null,
    scheme: key.scheme,
    state: keyStateAt(key, Date.now()),
    ...fieldsToJson(key),
    expires_at: isoTime(key.expiresAt),
    ...keyRows.shownOf(key),
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
