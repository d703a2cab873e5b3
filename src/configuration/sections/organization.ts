import { readKeyDefaults, readOrganizationRate } from '../../access/index.ts'
import { Problem } from '../../errors.ts'
import type { Rate } from '../../rate.ts'
import type { OrganizationRecord, Plan } from '../../store/index.ts'
import { camelCased, snakeCasedMembers } from './casing.ts'
import { nameField, nullable, object, rate, text, texts, whole, words } from './fields.ts'
import { noSecrets, type Entry, type Section, type Thing } from './section.ts'
import { dayMs } from '../../units.ts'

export const KeyDefaultsSchema = object({
  scheme: words(['x-api-key', 'bearer'], 'The header that new keys travel in.'),
  expires_after_days: nullable(whole(1, 3650, 'Days until new keys end; null = never.')),
  cidrs: nullable(texts(100, 'Addresses that new keys may come from; null = any.')),
})

/** The organization's name, plan and rate, and the defaults of new keys. */
export const organizationSection: Section = {
  key: 'organization',
  noun: 'organization',
  permission: 'organization.manage',
  hasUniqueNames: true,
  schema: object({
    slug: text(40, 'What addresses call the organization.'),
    name: nameField('What people see.'),
    plan: words(['standard', 'enterprise'], 'Set by the operator only.'),
    rate_limit: nullable(rate),
  }),
  loose: ['name', 'plan', 'rate_limit', 'key_defaults'],
  secretPaths: () => [],
  defaults: () => ({}),
  tidy: ({ key_defaults: given, ...entry }) => ({
    ...entry,
    ...(given === undefined ? {} : { key_defaults: { ...openDefaults, ...(given as object) } }),
  }),
  present: async ({ organization }) => [thingOf(organization)],
  async put({ entry }, { organization, services, actor }) {
    const { id, plan } = organization
    if (entry['plan'] !== undefined && entry['plan'] !== plan) {
      // Only the operator grants a plan; an organization can't grant one to itself.
      if (actor.kind !== 'operator') {
        throw new Problem('permission_required', 'Only the operator sets a plan.')
      }
      await services.organizations.setPlan(id, entry['plan'] as Plan, actor)
    }
    const change = {
      name: entry['name'] as string | undefined,
      keyDefaults: toDefaults(entry['key_defaults']),
      rateLimit: camelCased(entry['rate_limit']) as Rate | null | undefined,
    }
    const differs = Object.values(change).some((value) => value !== undefined)
    if (differs) await services.organizations.change(id, change, actor)
    return id
  },
  remove: async () => {},
}

const openDefaults = { scheme: 'x-api-key', expires_after_days: null, cidrs: null }

function thingOf(organization: OrganizationRecord): Thing {
  const { id, slug, name, plan, settings } = organization
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(settings)
  const days = expiresAfterMs === undefined ? null : expiresAfterMs / dayMs
  const keyDefaults = { scheme, expires_after_days: days, cidrs: cidrs ?? null }
  const rateLimit = snakeCasedMembers(readOrganizationRate(settings) ?? null)
  const entry = { name, plan, rate_limit: rateLimit, key_defaults: keyDefaults }
  return { id, name: slug, entry, secrets: noSecrets }
}

function toDefaults(given: unknown) {
  if (given === undefined) return undefined
  const { scheme, expires_after_days: days, cidrs } = given as Entry
  return {
    scheme: scheme as 'x-api-key' | 'bearer',
    expiresAfterMs: typeof days === 'number' ? days * dayMs : undefined,
    cidrs: (cidrs as string[] | null) ?? undefined,
  }
}
