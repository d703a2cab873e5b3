import { Problem } from '../../errors.ts'
import type { Grant, Key, KeyInput, Quota, Scheme } from '../../access/index.ts'
import type { Rate } from '../../rate.ts'
import { formed, nameField, nullable, object, quota, rate, texts, words } from './fields.ts'
import {
  inField,
  noSecrets,
  slugFrom,
  type Entry,
  type Scene,
  type Section,
  type Thing,
} from './section.ts'
import { camelCased, snakeCasedMembers } from './casing.ts'

const keysInPage = 200

/** Keys without their secrets: where they may be used, their limits and their expiry. */
export const keySection: Section = {
  key: 'keys',
  noun: 'key',
  permission: 'keys.manage',
  schema: object({
    name: nameField('What people see.'),
    scheme: words(['x-api-key', 'bearer'], 'The header that it travels in.'),
    grants: nullable(
      texts(100, 'Targets it may call, as TARGET or TARGET:METHOD,METHOD; null = all.'),
    ),
    cidrs: nullable(texts(100, 'Addresses it may come from; null = any.')),
    rate_limit: nullable(rate),
    quota: nullable(quota),
    expires_at: nullable(
      formed(
        '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?Z)?$',
        'must be a time such as 2027-01-31 or 2027-01-31T12:00:00Z',
        'When it ends (UTC); null = never.',
      ),
    ),
  }),
  loose: [],
  secretPaths: () => [],
  defaults: (name) => ({
    name,
    scheme: 'x-api-key',
    grants: null,
    cidrs: null,
    rate_limit: null,
    quota: null,
    expires_at: null,
  }),
  tidy: ({ grants, expires_at: end, ...entry }) => ({
    ...entry,
    ...(grants === undefined
      ? {}
      : { grants: (grants as string[] | null)?.map((one) => grantText(parseGrant(one))) ?? null }),
    ...(end === undefined
      ? {}
      : { expires_at: end === null ? null : inField('expires_at', () => timeOf(end as string)) }),
  }),
  async present({ organization, services }) {
    const things: Thing[] = []
    for (let before: string | undefined; ;) {
      const page = { before, limit: keysInPage, state: 'active' as const }
      const found = await services.keys.list(organization.id, page)
      for (const key of found) {
        // A personal key ends when its owner leaves, so no file manages it.
        if (key.personalUserId === undefined) things.push(thingOf(key))
      }
      before = found.at(-1)?.id
      if (found.length < keysInPage) return things.toReversed()
    }
  },
  async put({ name, entry, before }, scene) {
    const { organization, services, actor } = scene
    const input = toInput(entry)
    if (before === undefined) {
      const scheme = entry['scheme'] as Scheme
      const asked = {
        ...input,
        scheme,
        cidrs: input.cidrs ?? null,
        expiresAt: input.expiresAt ?? null,
      }
      const { key, secret } = await services.keys.issue(organization.id, asked, actor)
      scene.issued.push({ name, id: key.id, secret: secret.reveal() })
      return key.id
    }
    if (entry['scheme'] !== before.entry['scheme']) {
      throw new Problem('invalid_input', 'The scheme of a key cannot change; use another name.')
    }
    return (await services.keys.edit(organization.id, before.id, { input, actor })).id
  },
  async remove(id, { organization, services, actor }: Scene) {
    await services.keys.revoke(organization.id, id, actor)
  },
}

function thingOf(key: Key): Thing {
  const entry = {
    name: key.name,
    scheme: key.scheme,
    grants: key.grants?.map(grantText) ?? null,
    cidrs: key.cidrs ?? null,
    rate_limit: snakeCasedMembers(key.rateLimit ?? null),
    quota: key.quota ?? null,
    expires_at: key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString(),
  }
  return { id: key.id, name: slugFrom(key.name), entry, secrets: noSecrets }
}

function toInput(entry: Entry): KeyInput {
  const end = entry['expires_at'] as string | null
  return {
    name: String(entry['name']),
    grants: (entry['grants'] as string[] | null)?.map(parseGrant),
    cidrs: (entry['cidrs'] as string[] | null) ?? undefined,
    rateLimit: (camelCased(entry['rate_limit']) as Rate | null) ?? undefined,
    quota: (entry['quota'] as Quota | null) ?? undefined,
    expiresAt: end === null ? undefined : Date.parse(end),
  }
}

function parseGrant(text: string): Grant {
  const [target = '', methods] = text.split(':')
  return methods === undefined
    ? { target }
    : { target, methods: methods.split(',').map((one) => one.trim().toUpperCase()) }
}

function grantText({ target, methods }: Grant): string {
  return methods === undefined ? target : `${target}:${methods.join(',')}`
}

function timeOf(text: string): string {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Problem('invalid_input', `There is no time ${text}.`)
  return new Date(ms).toISOString()
}
