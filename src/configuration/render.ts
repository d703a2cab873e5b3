import { stringify } from 'yaml'
import type { Breath } from '../timers.ts'
import { sections } from './sections/index.ts'
import { sectionKeys, type Entry } from './sections/section.ts'
import type { State } from './state.ts'

/** Writing this many entries as YAML takes a millisecond or two. */
const entriesInPart = 32

/** Renders an organization's state as YAML and as data; the same state always gives the same text. */
export async function render(
  state: State,
  breath: Breath,
): Promise<{ readonly text: string; readonly document: Record<string, unknown> }> {
  const document = await toDocument(state, breath)
  const texts: string[] = []
  for (const [member, value] of Object.entries(document)) {
    const isList = member !== 'organization' && sectionKeys.some((key) => key === member)
    if (!isList) {
      if (value !== undefined) texts.push(toYaml({ [member]: value }))
      continue
    }
    for (const part of partsOf(member, value as Record<string, unknown>)) {
      texts.push(part)
      await breath()
    }
  }
  return { text: texts.join(''), document }
}

function* partsOf(section: string, entries: Record<string, unknown>): Generator<string> {
  const all = Object.entries(entries)
  for (let at = 0; at < all.length; at += entriesInPart) {
    const text = toYaml({ [section]: Object.fromEntries(all.slice(at, at + entriesInPart)) })
    // Only the first part keeps the line that names the section.
    yield at === 0 ? text : text.slice(text.indexOf('\n') + 1)
  }
}

function toYaml(value: object): string {
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

async function toDocument(state: State, breath: Breath): Promise<Record<string, unknown>> {
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
    const names = Object.keys(properties)
    const ordered: [string, Entry][] = []
    for (const [thing, entry] of [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      ordered.push([thing, inOrder(entry, names)])
      await breath()
    }
    file[key] = Object.fromEntries(ordered)
  }
  return file
}

function inOrder(entry: Entry, names: readonly string[]): Entry {
  return Object.fromEntries(
    names.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name]]])),
  )
}
