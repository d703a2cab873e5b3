import { readKeyDefaults } from '../access/index.ts'
import type { OrganizationRecord } from '../store/index.ts'
import { renderRule, type Target, type Targets, type TargetSettings } from '../targets/index.ts'
import { settingNames, type Configuration, type TargetEntry } from './configuration.ts'
import { ownedOf } from './owned.ts'

const dayMs = 86_400_000

/** What an organization is like now, in the form of a file; credentials by reference. */
export async function presentConfiguration(
  organization: OrganizationRecord,
  deps: { readonly targets: Pick<Targets, 'list'>; readonly defaults: TargetSettings },
): Promise<Configuration> {
  const { slug, name, settings } = organization
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(settings)
  const { references } = ownedOf(organization)
  const targets = await deps.targets.list(organization.id)
  return {
    organization: { slug, name },
    key_defaults: {
      scheme,
      expires_after_days: expiresAfterMs === undefined ? null : expiresAfterMs / dayMs,
      cidrs: cidrs ?? null,
    },
    targets: targets
      .map((target) => toEntry(target, deps.defaults, references[target.slug]))
      .toSorted((a, b) => (a.slug < b.slug ? -1 : 1)),
  }
}

/** One target without what is as it is by default. */
function toEntry(
  target: Target,
  defaults: TargetSettings,
  reference: string | undefined,
): TargetEntry {
  const { slug, name, upstream, credentialHeader: header, otherwise, settings } = target
  const value = reference ?? `env:${slug.toUpperCase().replaceAll('-', '_')}_CREDENTIAL`
  const differing = Object.keys(settingNames).flatMap((setting) => {
    const now = settings[setting as keyof TargetSettings]
    const usual = defaults[setting as keyof TargetSettings]
    return JSON.stringify(now) === JSON.stringify(usual) ? [] : [[setting, now] as const]
  })
  return {
    slug,
    name,
    upstream,
    credential: header === undefined ? null : { header, value },
    rules: target.rules.map(renderRule),
    otherwise: otherwise ?? null,
    disabled: target.disabledAt !== undefined,
    settings: Object.fromEntries(differing),
  }
}
