import {
  createKeyring,
  createKeys,
  readKey,
  schemeOfKey,
  schemes,
  type Grant,
  type Key,
  type Quota,
  type Scheme,
} from '../../access/index.ts'
import { createOrganizations } from '../../organizations/index.ts'
import { snakeCased, type Confirmation } from '../../store/index.ts'
import { parseCallsPerSeconds, parseDuration } from '../../units.ts'
import { command, need, read, UsageError } from '../lib/command.ts'
import { parseScheme } from '../lib/scheme.ts'
import { withRooms } from '../lib/services.ts'
import { isoTime, renderTable, shortTime } from '../lib/table.ts'

const mostListed = 1000

export const commands = {
  issue: command({
    usage:
      '<org> --name NAME [--scheme x-api-key|bearer] [--grant TARGET[:METHOD,…]]… [--expires 90d|never] [--cidr RANGE]… [--rate 100/s] [--quota 10000/day]',
    about: 'a new key; its secret is printed once. Without --grant it may call every target',
    options: {
      name: { type: 'string' },
      scheme: { type: 'string' },
      grant: { type: 'string', multiple: true },
      expires: { type: 'string' },
      cidr: { type: 'string', multiple: true },
      rate: { type: 'string' },
      quota: { type: 'string' },
    },
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const { rate, quota, expires } = values
      const wish = {
        name: need('--name', values.name),
        scheme: values.scheme === undefined ? undefined : parseScheme(values.scheme),
        grants: values.grant?.map(parseGrant),
        cidrs: values.cidr,
        rateLimit: rate === undefined ? undefined : read('--rate', rate, parseCallsPerSeconds),
        quota: quota === undefined ? undefined : parseQuota(quota),
        expiresAt: expires === undefined ? undefined : parseEnd(expires),
      }
      return await withRooms(terminal, async (rooms) => {
        const organization = await createOrganizations(rooms).get(slug)
        const { key, secret } = await createKeys(rooms).issue(organization.id, wish, rooms.actor)
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
    about: "an organization's keys, newest first",
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const organization = await createOrganizations(rooms).get(slug)
        const found = await createKeys(rooms).list(organization.id, { limit: mostListed })
        const rows = found.map((key) => [
          key.id,
          key.name,
          key.secrets[0]?.hint ?? '–',
          stateOf(key),
          shortTime(key.lastUsedAt),
          shortTime(key.expiresAt),
        ])
        const text = renderTable(
          ['ID', 'NAME', 'HINT', 'STATE', 'LAST USED (UTC)', 'ENDS'],
          rows,
          `No key yet; \`intercept key issue ${organization.slug} --name …\` issues one.`,
        )
        return { data: found.map(present), text }
      }),
  }),
  rotate: command({
    usage: '<key-id> [--overlap 24h]',
    about: 'a new secret; the old one stays valid for the overlap',
    options: { overlap: { type: 'string', default: '24h' } },
    run: async ({ values, positionals: [id = ''] }, terminal) => {
      const overlapMs = read('--overlap', values.overlap, parseDuration)
      return await withRooms(terminal, async (rooms) => {
        const keys = createKeys(rooms)
        const organizationId = await keys.organizationOf(id)
        const rotated = await keys.rotate(organizationId, id, overlapMs, rooms.actor)
        const { key, secret, confirmation } = rotated
        const until = rooms.clock.now() + overlapMs
        return {
          data: {
            ...present(key),
            secret: secret.reveal(),
            old_secret_valid_until: isoTime(until),
            ...presentConfirmation(confirmation),
          },
          text: `The new secret of ${key.name} (${key.id}), shown now and never again:\n\n  ${secret.reveal()}\n\nThe old one is valid until ${shortTime(until)} UTC.`,
        }
      })
    },
  }),
  revoke: command({
    usage: '<key-id>',
    about: 'never again; answers when every node refuses the key',
    run: async ({ positionals: [id = ''] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const keys = createKeys(rooms)
        const organizationId = await keys.organizationOf(id)
        const { key, confirmation } = await keys.revoke(organizationId, id, rooms.actor)
        return {
          data: { ...present(key), ...presentConfirmation(confirmation) },
          text: `Key ${key.name} (${key.id}) is revoked; ${sayConfirmed(confirmation)}.`,
        }
      }),
  }),
  check: command({
    usage: '',
    about: 'reads a key from standard input and says whose it is and whether it works',
    run: async (_call, terminal) => {
      const text = await terminal.readInput()
      return await withRooms(terminal, async (rooms) => {
        const enabledSchemes = rooms.config.keySchemes
        const keyring = createKeyring({ ...rooms, enabledSchemes, capacity: 1 })
        const principal = await keyring.identify(presented(text, enabledSchemes))
        return {
          data: {
            id: principal.keyId,
            name: principal.name,
            hint: principal.hint,
            organization: principal.organizationSlug,
            expires_at: isoTime(principal.expiresAt),
            state: 'active',
          },
          text: `${principal.hint} is the key ${principal.name} (${principal.keyId}) of ${principal.organizationSlug}, and works.`,
        }
      })
    },
  }),
}

/** As if it had come in the header of its own scheme. */
function presented(text: string, enabled: readonly Scheme[]) {
  const headers =
    schemeOfKey(text) === 'bearer'
      ? { xApiKey: [], authorization: [`Bearer ${text}`] }
      : { xApiKey: [text], authorization: [] }
  return readKey(headers, enabled)
}

/** `echo` or `echo:GET,POST`. */
function parseGrant(text: string): Grant {
  const [target = '', methods] = text.split(':')
  if (target === '') throw new UsageError('--grant must be TARGET or TARGET:METHOD,METHOD')
  return methods === undefined
    ? { target }
    : { target, methods: methods.split(',').map((method) => method.trim().toUpperCase()) }
}

function parseQuota(text: string): Quota {
  const [, calls, period] = /^(\d{1,12})\/(day|month)$/.exec(text) ?? []
  if (calls === undefined)
    throw new UsageError('--quota must be such as 10000/day or 1000000/month')
  return { calls: Number(calls), period: period === 'month' ? 'month' : 'day' }
}

/** `90d` from now, a date, or `never`. */
function parseEnd(text: string): number | null {
  if (text === 'never') return null
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? Date.now() + read('--expires', text, parseDuration) : date
}

function stateOf(key: Key): 'active' | 'suspended' | 'revoked' | 'expired' {
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.suspendedAt !== undefined) return 'suspended'
  return key.expiresAt !== undefined && key.expiresAt <= Date.now() ? 'expired' : 'active'
}

function present(key: Key) {
  return {
    id: key.id,
    name: key.name,
    hint: key.secrets[0]?.hint ?? null,
    scheme: key.scheme,
    state: stateOf(key),
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
