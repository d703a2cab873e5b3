/**
 * An organization's configuration as a file: export, plan and apply, the things that files manage, and how they drift.
 */
import type { Permission } from '../access/index.ts'
import { record } from '../audit/index.ts'
import { Problem } from '../errors.ts'
import type { OrganizationId } from '../ids.ts'
import { managed, type Actor, type ManagedRecord, type OrganizationRecord } from '../store/index.ts'
import { createBreath } from '../timers.ts'
import { applyFile, planFile, type Applied, type ApplyBy, type ApplyOptions } from './apply.ts'
import { checkDrift } from './drift.ts'
import { readFile, readFileAside, type ConfigurationFile } from './file/read.ts'
import { render } from './render.ts'
import { referenceIn, type Difference } from './plan.ts'
import { sectionKeys, type SectionKey } from './sections/section.ts'
import { sections } from './sections/index.ts'
import { openServices, type ConfigurationDeps } from './sections/services.ts'
import { readState } from './state.ts'

export type { Applied } from './apply.ts'
export { maxFileBytes } from './file/read.ts'
export { schemaDocument } from './file/schema.ts'
export type { Difference } from './plan.ts'
export { sectionKeys, type IssuedKey, type SectionKey } from './sections/section.ts'
export type { ConfigurationDeps } from './sections/services.ts'

/** A thing that a file may manage, by section and id or name. */
export interface ManagedThing {
  readonly section: SectionKey
  readonly idOrName: string
}

/** Exports, plans and applies organizations' configuration files, and keeps track of what those files manage. */
export interface Configurations {
  /** Exports an organization's current state as YAML and as data; secrets appear as references. */
  export(
    organization: OrganizationRecord,
  ): Promise<{ readonly text: string; readonly document: Record<string, unknown> }>
  /** Computes what applying a file would do, without changing anything. */
  plan(text: string, options: ApplyOptions): Promise<Difference[]>
  /** Makes the organization match the file, all or nothing. */
  apply(text: string, by: ApplyBy): Promise<Applied>
  /** Throws `managed_by_file` for a thing that a file manages. */
  requireUnmanaged(organizationId: OrganizationId, thing: ManagedThing): Promise<void>
  /** Lists a page of managed things, ordered by section and name. */
  managed(
    organizationId: OrganizationId,
    page: Parameters<typeof managed.page>[2],
  ): Promise<ManagedRecord[]>
  /** Lets people edit a managed thing again, until its file is next applied. Throws `not_found`. */
  takeOver(organizationId: OrganizationId, thing: ManagedThing, actor: Actor): Promise<void>
  /** Announces things that have begun to differ from their file; returns how many. */
  announceDrift(): Promise<number>
}

export function createConfigurations(deps: ConfigurationDeps): Configurations {
  const { store } = deps
  return {
    async export(organization) {
      const breath = createBreath(deps.clock)
      return await render(await readState(organization, openServices(deps), breath), breath)
    },
    plan: async (text, options) => await planFile(await read(text, options), options, deps),
    apply: async (text, by) => await applyFile(await read(text, by), by, deps),
    async requireUnmanaged(organizationId, thing) {
      const found = await managed.find(store, organizationId, thing)
      if (found === undefined) return
      throw new Problem(
        'managed_by_file',
        `${nounOf(thing)} ${found.name} is managed by the file ${found.label}. Change it there, or take it over first.`,
        { members: { managed_by: found.label } },
      )
    },
    managed: async (organizationId, page) => await managed.page(store, organizationId, page),
    async takeOver(organizationId, thing, actor) {
      await store.transaction(async (tx) => {
        const found = await managed.find(tx, organizationId, thing)
        if (found === undefined) {
          throw new Problem('not_found', `No file manages this ${nounOf(thing).toLowerCase()}.`)
        }
        const { section, name, label, subjectId } = found
        await managed.remove(tx, organizationId, { section, name })
        record(tx, {
          organizationId,
          actor,
          action: 'configuration.taken_over',
          subject: { kind: sections[thing.section].noun, id: subjectId ?? name },
          detail: { label, name },
        })
      })
    },
    announceDrift: async () => await checkDrift(deps),
  }
}

/** Returns the permission required to read or change things in a section. */
export function permissionFor(section: SectionKey): Permission {
  return sections[section].permission
}

/**
 * Reads what a sender must know about a file before sending it to a node: its organization and the secrets it refers
 * to.
 */
export function readSlug(
  text: string,
  label: string,
): { readonly slug: string; readonly references: readonly string[] } {
  const { slug, entries } = readFile(text, label)
  const references = sectionKeys.flatMap((key) =>
    [...entries[key].values()].flatMap((entry) =>
      sections[key].secretPaths(entry).map((path) => referenceIn(entry, path)),
    ),
  )
  return { slug, references: [...new Set(references)] }
}

/** Parses a file; throws if it is about another organization than expected. */
async function read(text: string, { label, slug }: ApplyOptions): Promise<ConfigurationFile> {
  const file = await readFileAside(text, label)
  if (slug === undefined || file.slug === slug) return file
  const where = file.where('organization', file.slug, 'slug')
  throw new Problem('invalid_input', `${where} is ${file.slug}, and this is ${slug}.`)
}

function nounOf({ section }: ManagedThing): string {
  const { noun } = sections[section]
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}
