import { Problem } from '../../errors.ts'
import type { Permission } from '../../access/index.ts'
import type { TSchema } from '../../http/index.ts'
import type { Actor, OrganizationRecord } from '../../store/index.ts'
import type { ConfigurationServices } from './services.ts'

/** A part of the file that maps names to entries; in this order they are applied, in the opposite one removed. */
export const sectionKeys = [
  'organization',
  'targets',
  'endpoints',
  'connections',
  'domains',
  'groups',
  'keys',
] as const

export type SectionKey = (typeof sectionKeys)[number]

/** What a file says of one thing, under the names of the file; secrets stand in it as references. */
export type Entry = Readonly<Record<string, unknown>>

/** A thing as it is now. */
export interface Thing {
  readonly id: string
  /** What a file would call it where no file has named it yet. */
  readonly name: string
  /** Every field; where a secret belongs, its place is empty. */
  readonly entry: Entry
  /** Its secrets, by where they stand in the entry. */
  readonly secrets: ReadonlyMap<string, string>
}

/** Where an apply or a plan is at work. */
export interface Scene {
  readonly organization: OrganizationRecord
  readonly services: ConfigurationServices
  readonly actor: Actor
  /** Ids of things by section and name, as far as they exist by now. */
  readonly idOf: (section: SectionKey, name: string) => string | undefined
  readonly nameOf: (section: SectionKey, id: string) => string | undefined
  /** Where the secrets of newly issued keys are put. */
  readonly issued: IssuedKey[]
}

/** A key that an apply has issued: its secret is told once. */
export interface IssuedKey {
  readonly name: string
  readonly id: string
  readonly secret: string
}

/** A thing to be made, or changed from what it was. */
export interface Wanted {
  readonly name: string
  /** Every field: what the file leaves out has its default. */
  readonly entry: Entry
  readonly before: Thing | undefined
  readonly secretAt: (path: string) => string
}

/** How things of one kind are read, compared and put in place. */
export interface Section {
  readonly key: SectionKey
  /** What a thing is called in differences: `target payments`. */
  readonly noun: string
  /** What it takes to change one. */
  readonly permission: Permission
  /** One entry of the file. */
  readonly schema: TSchema
  /** Fields that stay as they are where the file leaves them out. */
  readonly loose: readonly string[]
  /** Where secrets stand in an entry. */
  readonly secretPaths: (entry: Entry) => readonly string[]
  /** What fields have that nobody mentions. */
  readonly defaults: (name: string, entry: Entry, services: ConfigurationServices) => Entry
  /** Values in the one form in which they are kept; `invalid_input` for what makes no sense. */
  readonly tidy: (entry: Entry) => Entry
  readonly present: (scene: Pick<Scene, 'organization' | 'services' | 'nameOf'>) => Promise<Thing[]>
  /** Makes or changes it; its id, or undefined for one that waits for what others make. */
  readonly put: (wanted: Wanted, scene: Scene) => Promise<string | undefined>
  readonly remove: (id: string, scene: Scene) => Promise<void>
}

/** Reads a field; what is refused carries the field's name, so that the file's line can be told. */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem(error.code, error.message, { cause: error, members: { field } })
  }
}

/** Without secrets: for sections that have none. */
export const noSecrets: ReadonlyMap<string, string> = new Map()

/** A name for files out of any text: lower case, digits and `-`. */
export function slugFrom(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'unnamed' : slug
}

/** The same text for the same value, in whatever order its members stand; what is undefined is not there. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${members
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
    .toSorted()
    .join()}}`
}

/** An entry with the values at some places exchanged. */
export function withValues(
  entry: Entry,
  paths: readonly string[],
  valueAt: (path: string) => unknown,
): Entry {
  const copy: Record<string, unknown> = { ...entry }
  for (const path of paths) {
    const [first = '', ...rest] = path.split('.')
    const inner = rest.join('.')
    copy[first] =
      inner === ''
        ? valueAt(path)
        : { ...(copy[first] as Record<string, unknown>), [inner]: valueAt(path) }
  }
  return copy
}
