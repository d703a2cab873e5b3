import { stringify } from 'yaml'
import { settingNames, type Configuration, type TargetEntry } from './configuration.ts'

/** A configuration as the file that says it: the same text for the same configuration. */
export function renderConfiguration(configuration: Configuration): string {
  const { organization, key_defaults: defaults, targets } = configuration
  return stringify(
    {
      version: 1,
      organization,
      key_defaults: defaults,
      targets: Object.fromEntries(targets.map((target) => [target.slug, fieldsOf(target)])),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

function fieldsOf(target: TargetEntry): Record<string, unknown> {
  const { slug, name, upstream, credential, rules, otherwise, disabled, settings } = target
  return {
    ...(name === slug ? {} : { name }),
    upstream,
    ...(credential === null ? {} : { credential }),
    ...(rules.length === 0 ? {} : { rules }),
    ...(otherwise === null ? {} : { otherwise }),
    ...(disabled ? { disabled } : {}),
    ...Object.fromEntries(
      Object.entries(settingNames).flatMap(([inside, outside]) =>
        settings[inside] === undefined ? [] : [[outside, toFile(settings[inside])]],
      ),
    ),
  }
}

/** Members of settings are snake_case in files. */
function toFile(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`), inner]),
  )
}
