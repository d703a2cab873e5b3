import { managed, type ManagedRecord, type OrganizationRecord } from '../store/index.ts'
import type { Breath } from '../timers.ts'
import { canonical, sectionKeys, withValues } from './sections/section.ts'
import type { Entry, Section, SectionKey, Thing } from './sections/section.ts'
import { sections } from './sections/index.ts'
import type { ConfigurationServices } from './sections/services.ts'

/** What an organization has at present, as far as a file can describe it. */
export interface State {
  /** Each thing as a file would describe it: without defaults, and with references instead of secrets. */
  readonly entries: Readonly<Record<SectionKey, ReadonlyMap<string, Entry>>>
  readonly things: Readonly<Record<SectionKey, ReadonlyMap<string, Thing>>>
  readonly owned: readonly ManagedRecord[]
}

/**
 * Reads everything about an organization that a file can describe. `breath` lets other work run in between; it must be
 * undefined inside a transaction, because on SQLite the event loop must not turn while one is open.
 */
export async function readState(
  organization: OrganizationRecord,
  services: ConfigurationServices,
  breath: Breath | undefined,
): Promise<State> {
  const owned = await managed.list(services.store, organization.id)
  const things = {} as Record<SectionKey, Map<string, Thing>>
  const entries = {} as Record<SectionKey, Map<string, Entry>>
  const nameOf = (key: SectionKey, id: string): string | undefined =>
    [...(things[key] ?? [])].find(([, thing]) => thing.id === id)?.[0]
  for (const key of sectionKeys) {
    const section = sections[key]
    const ours = owned.filter((row) => row.section === key)
    const found = await section.present({ organization, services, nameOf, breath })
    things[key] = named(found, ours, section.hasUniqueNames)
    const rows = new Map(ours.map((row) => [row.name, row]))
    entries[key] = new Map()
    for (const [name, thing] of things[key]) {
      const refs = (path: string) => referenceAt(path, name, rows.get(name)?.entry)
      const entry = withValues(thing.entry, section.secretPaths(thing.entry), refs)
      entries[key].set(name, withoutDefaults(section, { name, entry }, services))
      await breath?.()
    }
  }
  return { entries, things, owned }
}

/** Returns the state of an organization that does not exist yet. */
export function emptyState(): State {
  const none = new Map<string, never>()
  const all = {} as Record<SectionKey, ReadonlyMap<string, never>>
  for (const key of sectionKeys) all[key] = none
  return { entries: all, things: all, owned: [] }
}

/** Normalizes an entry so that equal things compare equal: tidy, and without default values. */
export function withoutDefaults(
  section: Section,
  { name, entry }: { readonly name: string; readonly entry: Entry },
  services: ConfigurationServices,
): Entry {
  const { name: given } = entry
  const trimmed = typeof given === 'string' ? { ...entry, name: given.trim() } : entry
  const tidy = section.tidy(trimmed)
  const defaults = section.defaults(name, tidy, services)
  return Object.fromEntries(
    Object.entries(tidy).filter(
      ([field, value]) => canonical(value) !== canonical(defaults[field] ?? null),
    ),
  )
}

/**
 * Names things as the files that manage them do; other things keep their own names, with a number where needed. If
 * names are unique, a new thing may take the name of a managed one that is gone.
 */
export function named(
  found: readonly Thing[],
  owned: readonly ManagedRecord[],
  hasUniqueNames: boolean,
): Map<string, Thing> {
  const names = new Map(owned.map((row) => [row.subjectId, row.name]))
  const result = new Map<string, Thing>()
  const waiting = owned.filter((row) => row.subjectId === undefined)
  for (const { name, entry } of waiting) {
    result.set(name, { id: '', name, entry, secrets: new Map() })
  }
  for (const thing of found) {
    const name = names.get(thing.id)
    if (name !== undefined) result.set(name, thing)
  }
  const kept = hasUniqueNames ? owned.filter((row) => result.has(row.name)) : owned
  const taken = new Set(kept.map((row) => row.name))
  // A pipeline may issue thousands of keys with one name, so each search for a free number starts where the last one
  // ended.
  const numbers = new Map<string, number>()
  for (const thing of found) {
    if (names.has(thing.id)) continue
    const own = thing.name
    let name = own
    let number = numbers.get(own) ?? 2
    // A managed thing without an id did not exist when its file was applied. A thing of its name has appeared since,
    // and gets the name without a number.
    for (; taken.has(name) && result.get(name)?.id !== ''; number++) name = `${own}-${number}`
    numbers.set(own, number)
    taken.add(name)
    result.set(name, thing)
  }
  return result
}

/**
 * Returns the reference that a secret was applied with. If there is none, returns an `env:` reference named after the
 * thing and the field, which the next apply resolves.
 */
function referenceAt(path: string, name: string, applied: Entry | undefined): string {
  const [first = '', ...rest] = path.split('.')
  const inner = rest.join('.')
  const kept = inner === '' ? applied?.[first] : (applied?.[first] as Entry | undefined)?.[inner]
  if (typeof kept === 'string') return kept
  const words = [name, inner === '' || inner === 'value' ? first : inner]
  return `env:${words
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_')}`
}
