import { sameSecret } from '../secrets/index.ts'
import type { ManagedRecord } from '../store/index.ts'
import type { Breath } from '../timers.ts'
import type { ConfigurationFile } from './file/read.ts'
import { canonical, sectionKeys, withValues } from './sections/section.ts'
import type { Entry, Section, SectionKey, Thing } from './sections/section.ts'
import { placedAt, type Where } from './refusal.ts'
import { sections } from './sections/index.ts'
import type { ConfigurationServices } from './sections/services.ts'
import { withoutDefaults, type State } from './state.ts'

/** One difference: something is added, changed field by field, or removed. */
export interface Difference {
  readonly change: 'add' | 'change' | 'remove'
  readonly subject: string
  readonly fields: readonly {
    readonly field: string
    readonly before: unknown
    readonly after: unknown
  }[]
}

/** A difference with everything needed to apply it. */
export interface Step extends Difference {
  readonly section: Section
  readonly name: string
  readonly entry: Entry
  readonly before: Thing | undefined
}

/** How to compare a file with an organization. */
export interface Comparison {
  /** The file's name; only things that it manages are ever removed. */
  readonly label: string
  readonly prune: boolean
  readonly nowMs: number
  readonly secrets: ReadonlyMap<string, string>
  readonly services: ConfigurationServices
  /** Lets other work run in between; undefined inside a transaction. */
  readonly breath: Breath | undefined
}

/**
 * Returns the differences between an organization and a file, in the order in which they are applied: removals come
 * last.
 */
export async function compare(
  file: ConfigurationFile,
  state: State,
  of: Comparison,
): Promise<Step[]> {
  const wanted: Step[] = []
  for (const key of sectionKeys) {
    for (const [name, entry] of [...file.entries[key]].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const where = (field?: string): string => file.where(key, name, field)
      wanted.push(...one({ section: sections[key], name, where }, { entry, state }, of))
      await of.breath?.()
    }
  }
  return [...wanted, ...(of.prune ? removals(file, state, of.label) : [])]
}

function one(
  at: { readonly section: Section; readonly name: string; readonly where: Where },
  { entry, state }: { readonly entry: Entry; readonly state: State },
  of: Comparison,
): Step[] {
  const { section, name } = at
  const { key } = section
  const before = state.things[key].get(name)
  const after = tidied(at, entry, of.services)
  if (before === undefined && hasEnded(after, of.nowMs)) return []
  const step = {
    section,
    name,
    before,
    entry: filled(section, { name, entry: after }, of.services),
  }
  const subject = `${section.noun} ${name}`
  const present = state.entries[key].get(name) ?? {}
  const fields = [
    ...changedFields(section, present, after),
    ...changedSecrets(section, after, { before, secrets: of.secrets }),
  ]
  if (before === undefined) return [{ ...step, change: 'add', subject, fields }]
  return fields.length === 0 ? [] : [{ ...step, change: 'change', subject, fields }]
}

/** Whether an entry's expiry has passed: a key that has already expired is not issued. */
function hasEnded({ expires_at: end }: Entry, nowMs: number): boolean {
  return typeof end === 'string' && Date.parse(end) <= nowMs
}

/**
 * Returns the removals of things that the file manages and no longer names; dependents come before what they depend on.
 */
function removals(file: ConfigurationFile, state: State, label: string): Step[] {
  return noLongerNamed(file, state, label)
    .toSorted((a, b) => rank(b.section) - rank(a.section))
    .flatMap((row) => {
      const section = sections[row.section as SectionKey]
      const before = managedThing(row, state)
      const subject = `${section.noun} ${row.name}`
      const step = { section, name: row.name, entry: {}, before, fields: [] }
      return before === undefined ? [] : [{ ...step, change: 'remove' as const, subject }]
    })
}

/** Returns the records of what the file manages and no longer names. */
export function noLongerNamed(
  file: ConfigurationFile,
  state: State,
  label: string,
): readonly ManagedRecord[] {
  return state.owned
    .filter((row) => row.label === label && row.section !== 'organization')
    .filter((row) => !file.entries[row.section as SectionKey].has(row.name))
}

/** Returns the thing that a file manages; undefined if it is gone, even if another one has its name by now. */
export function managedThing(row: ManagedRecord, state: State): Thing | undefined {
  const thing = state.things[row.section as SectionKey].get(row.name)
  return thing?.id === (row.subjectId ?? '') ? thing : undefined
}

function rank(section: string): number {
  return sectionKeys.indexOf(section as SectionKey)
}

function tidied(
  at: { readonly section: Section; readonly name: string; readonly where: Where },
  entry: Entry,
  services: ConfigurationServices,
): Entry {
  try {
    at.section.check?.(entry)
    return withoutDefaults(at.section, { name: at.name, entry }, services)
  } catch (error) {
    throw placedAt(at.where, error)
  }
}

/** Adds the defaults of the fields that an entry omits; a field in `loose` has none. */
function filled(
  section: Section,
  { name, entry }: { readonly name: string; readonly entry: Entry },
  services: ConfigurationServices,
): Entry {
  return { ...section.defaults(name, entry, services), ...entry }
}

/** Compares fields without their secrets: a different reference to the same secret is not a change. */
export function changedFields(
  section: Section,
  present: Entry,
  after: Entry,
): Difference['fields'] {
  const hidden = (entry: Entry): Entry =>
    withValues(entry, section.secretPaths(entry), () => 'secret')
  const [was, is] = [hidden(present), hidden(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  return names
    .filter((name) => is[name] !== undefined || !section.loose.includes(name))
    .filter((name) => canonical(was[name]) !== canonical(is[name]))
    .map((field) => ({ field, before: shown(field, present), after: shown(field, after) }))
}

/** Returns a field's value for display; headers are shown as lines such as `Authorization: env:TOKEN`. */
function shown(field: string, entry: Entry): unknown {
  const value = entry[field] ?? null
  if (field !== 'headers' || value === null) return value
  return Object.entries(value).map(([name, reference]) => `${name}: ${String(reference)}`)
}

function changedSecrets(
  section: Section,
  after: Entry,
  {
    before,
    secrets,
  }: { readonly before: Thing | undefined; readonly secrets: Comparison['secrets'] },
): Difference['fields'] {
  if (before === undefined) return []
  return section.secretPaths(after).flatMap((path) => {
    const reference = referenceIn(after, path)
    const [now, wanted] = [before.secrets.get(path), secrets.get(reference)]
    // A secret that is set for the first time is already listed as a change of its field.
    if (now === undefined || wanted === undefined || sameSecret(now, wanted)) return []
    return [{ field: path, before: 'another secret', after: reference }]
  })
}

/** Returns the reference at a path in an entry, such as `headers.Authorization`. */
export function referenceIn(entry: Entry, path: string): string {
  const [first = '', ...rest] = path.split('.')
  const value = rest.length === 0 ? entry[first] : (entry[first] as Entry)[rest.join('.')]
  return String(value)
}
