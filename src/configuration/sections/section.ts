import { Problem } from '../../errors.ts'
import type { Permission } from '../../access/index.ts'
import type { TSchema } from '../../http/index.ts'
import type { Actor, OrganizationRecord } from '../../store/index.ts'
import type { Breath } from '../../timers.ts'
import type { ConfigurationServices } from './services.ts'

/** The sections of a file; their things are created and changed in this order, and removed in the reverse order. */
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

/** A file's description of one thing, with the file's field names; secrets appear as references. */
export type Entry = Readonly<Record<string, unknown>>

/** A thing of an organization, described like an entry of a file. */
export interface Thing {
  /** Empty for a managed group that does not exist yet. */
  readonly id: string
  /** The name to give it in a file if no file has named it yet. */
  readonly name: string
  /** All fields; secrets are left empty. */
  readonly entry: Entry
  /** The thing's secrets, by their paths in the entry, such as `headers.Authorization`. */
  readonly secrets: ReadonlyMap<string, string>
}

/** The context of a plan or an apply. */
export interface Scene {
  readonly organization: OrganizationRecord
  readonly services: ConfigurationServices
  readonly actor: Actor
  /**
   * Finds the id of a thing, even of one that this apply has created. The id of a managed group that does not exist yet
   * is empty.
   */
  readonly idOf: (section: SectionKey, name: string) => string | undefined
  readonly nameOf: (section: SectionKey, id: string) => string | undefined
  /** Collects the secrets of newly issued keys. */
  readonly issued: IssuedKey[]
}

/** A key issued by an apply; its secret is shown only once. */
export interface IssuedKey {
  readonly name: string
  readonly id: string
  readonly secret: string
}

/** A thing to create, or to change from its previous state. */
export interface Wanted {
  readonly name: string
  /** What the file omits has its default here; omitted fields in `loose` are missing. */
  readonly entry: Entry
  readonly before: Thing | undefined
  readonly secretAt: (path: string) => string
}

/** How things of one kind are read, compared and applied. */
export interface Section {
  readonly key: SectionKey
  /** The word for such a thing in differences: `target` in `target payments`. */
  readonly noun: string
  readonly permission: Permission
  readonly schema: TSchema
  /** Whether names are unique within an organization, as those of targets are; several keys may share a name. */
  readonly hasUniqueNames: boolean
  /** Fields that keep their current value if the file omits them. */
  readonly loose: readonly string[]
  readonly secretPaths: (entry: Entry) => readonly string[]
  /** The values of omitted fields. */
  readonly defaults: (name: string, entry: Entry, services: ConfigurationServices) => Entry
  /** Normalizes values to their stored form; throws `invalid_input` if they make no sense. */
  readonly tidy: (entry: Entry) => Entry
  /**
   * Throws `invalid_input` for values of a file that could not be saved, so that a plan refuses what applying would
   * refuse.
   */
  readonly check?: (entry: Entry) => void
  readonly present: (
    scene: Pick<Scene, 'organization' | 'services' | 'nameOf'> & {
      /** Lets other work run in between; undefined inside a transaction. */
      readonly breath: Breath | undefined
    },
  ) => Promise<Thing[]>
  /** Creates or changes a thing; returns its id, or undefined for a group that the directory has not created yet. */
  readonly put: (wanted: Wanted, scene: Scene) => Promise<string | undefined>
  readonly remove: (id: string, scene: Scene) => Promise<void>
}

/** Reads a field, and adds the field's name to a refusal, so that its line can be reported. */
export function inField<T>(field: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem(error.code, error.message, { cause: error, members: { field } })
  }
}

export const noSecrets: ReadonlyMap<string, string> = new Map()

/** Derives the name of an entry in a configuration file from any text: lower-case letters, digits and `-`. */
export function slugFrom(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? 'unnamed' : slug
}

/**
 * Serializes a value so that equal values give equal text, whatever the order of members; undefined members are left
 * out.
 */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${members
    .map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`)
    .toSorted()
    .join()}}`
}

/** Replaces the values at given paths in an entry. */
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
