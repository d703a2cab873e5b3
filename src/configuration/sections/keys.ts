import { Problem } from '../../errors.ts'
import type { Key, KeyInput, Scheme } from '../../access/index.ts'
import { parseTime } from '../../units.ts'
import { formed, nameField, nullable, object, words } from './fields.ts'
import {
  checkFields,
  fieldSchemas,
  fieldsFromFile,
  fieldsInFile,
  tidyFields,
} from './key-fields.ts'
import {
  inField,
  noSecrets,
  slugFrom,
  type Entry,
  type Scene,
  type Section,
  type Thing,
} from './section.ts'

const keysInPage = 200

/** Keys without their secrets: where they may be used, their limits and their expiry. */
export const keySection: Section = {
  key: 'keys',
  noun: 'key',
  permission: 'keys.manage',
  hasUniqueNames: false,
  schema: object({
    name: nameField('What people see.'),
    scheme: words(['x-api-key', 'bearer'], 'The header that it travels in.'),
    ...fieldSchemas(),
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
    ...fieldsInFile({}),
    expires_at: null,
  }),
  tidy: ({ expires_at: end, ...entry }) => ({
    ...entry,
    ...tidyFields(entry),
    ...(end === undefined
      ? {}
      : { expires_at: end === null ? null : inField('expires_at', () => timeOf(end as string)) }),
  }),
  check: checkFields,
  async present({ organization, services, breath }) {
    const things: Thing[] = []
    for (let before: string | undefined; ;) {
      const page = { before, limit: keysInPage, state: 'active' as const }
      const found = await services.keys.list(organization.id, page)
      for (const key of found) {
        // A personal key ends when its owner leaves, so no file manages it.
        if (key.personalUserId === undefined) things.push(thingOf(key))
      }
      await breath?.()
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
    ...fieldsInFile(key),
    expires_at: key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString(),
  }
  return { id: key.id, name: slugFrom(key.name), entry, secrets: noSecrets }
}

function toInput(entry: Entry): KeyInput {
  const end = entry['expires_at'] as string | null
  return {
    name: String(entry['name']),
    ...fieldsFromFile(entry),
    expiresAt: end === null ? undefined : Date.parse(end),
  }
}

function timeOf(text: string): string {
  const ms = parseTime(text)
  if (ms === undefined) throw new Problem('invalid_input', `There is no time ${text}.`)
  return new Date(ms).toISOString()
}
