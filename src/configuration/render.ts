import { setImmediate } from 'node:timers/promises'
import { stringify } from 'yaml'
import { sections } from './sections/index.ts'
import { sectionKeys, type Entry } from './sections/section.ts'
import type { State } from './state.ts'

/** Writing this many entries as YAML takes some 5 ms; between them the process serves others. */
const entriesInTurn = 100

/** Renders an organization's state as a file; the same state always gives the same text. */
export async function renderFile(state: State): Promise<string> {
  const texts: string[] = []
  for (const [member, value] of Object.entries(toDocument(state))) {
    const isList = member !== 'organization' && sectionKeys.some((key) => key === member)
    if (isList) texts.push(...(await renderEntries(member, value as Record<string, unknown>)))
    else if (value !== undefined) texts.push(toYaml({ [member]: value }))
  }
  return texts.join('')
}

async function renderEntries(section: string, entries: Record<string, unknown>): Promise<string[]> {
  const all = Object.entries(entries)
  const texts: string[] = []
  for (let at = 0; at < all.length; at += entriesInTurn) {
    const text = toYaml({ [section]: Object.fromEntries(all.slice(at, at + entriesInTurn)) })
    // Only the first part keeps the line that names the section.
    texts.push(at === 0 ? text : text.slice(text.indexOf('\n') + 1))
    await setImmediate()
  }
  return texts
}

function toYaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
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
