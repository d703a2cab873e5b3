import { stringify } from 'yaml'
import { sections } from './sections/index.ts'
import { sectionKeys, type Entry } from './sections/section.ts'
import type { State } from './state.ts'

/** Renders an organization's state as a file; the same state always gives the same text. */
export function renderFile(state: State): string {
  return stringify(toDocument(state), { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Renders an organization's state as the data that `renderFile` writes as YAML. */
export function toDocument(state: State): Record<string, unknown> {
  const [[slug, own] = ['', {}]] = state.entries.organization
  const { key_defaults: keyDefaults, rate_limit: rate, name, plan } = own
  const file: Record<string, unknown> = {
    version: 1,
    organization: {
      slug,
      name,
      ...(plan === 'standard' ? {} : { plan }),
      ...(rate === null ? {} : { rate_limit: rate }),
    },
    key_defaults: keyDefaults,
  }
  for (const key of sectionKeys) {
    const entries = state.entries[key]
    if (key === 'organization' || entries.size === 0) continue
    const { properties = {} } = sections[key].schema as { properties?: object }
    file[key] = Object.fromEntries(
      [...entries]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([thing, entry]) => [thing, inOrder(entry, Object.keys(properties))]),
    )
  }
  return file
}

function inOrder(entry: Entry, names: readonly string[]): Entry {
  return Object.fromEntries(
    names.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])),
  )
}
