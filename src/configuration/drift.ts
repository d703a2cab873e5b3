import {
  managed,
  organizations,
  storeWithin,
  type ManagedRecord,
  type OrganizationRecord,
  type Tx,
} from '../store/index.ts'
import { createBreath, eachApart } from '../timers.ts'
import { publish } from '../webhooks/events/index.ts'
import { digestsOf, openDigests } from './owned.ts'
import { changedFields, managedThing } from './plan.ts'
import { canonical, type Scene, type SectionKey } from './sections/section.ts'
import { groupSection } from './sections/groups.ts'
import { sections } from './sections/index.ts'
import { openServices, type ConfigurationDeps } from './sections/services.ts'
import { readState, type State } from './state.ts'

const organizationsAtOnce = 20

/**
 * Announces managed things that have begun to differ from their file, and gives new directory groups the roles that
 * files set for them; returns how many things it announced.
 */
export async function checkDrift(deps: ConfigurationDeps): Promise<number> {
  let announced = 0
  const unchecked = await managed.listUnchecked(deps.store, organizationsAtOnce)
  await eachApart(unchecked, async ({ organizationId, sequence }) => {
    const organization = await organizations.find(deps.store, organizationId)
    if (organization !== undefined) announced += await checkOne(organization, deps)
    await deps.store.transaction(
      async (tx) => await managed.noteChecked(tx, organizationId, sequence),
    )
  })
  return announced
}

async function checkOne(
  organization: OrganizationRecord,
  deps: ConfigurationDeps,
): Promise<number> {
  const services = openServices(deps)
  const state = await readState(organization, services, createBreath(deps.clock))
  const drifts = state.owned.map((row) => ({
    row,
    fields: driftOf(row, { state, organization }, deps),
  }))
  const news = drifts.filter(
    ({ row, fields }) => fields.length > 0 === (row.driftedAt === undefined),
  )
  const waiting = state.owned.filter((row) => row.subjectId === undefined)
  if (news.length === 0 && waiting.length === 0) return 0
  return await deps.store.transaction(async (tx) => {
    const inside = openServices({ ...deps, store: storeWithin(deps.store, tx) })
    for (const row of waiting) await settle(tx, row, { organization, services: inside })
    let announced = 0
    for (const { row, fields } of news)
      announced += await announceDrift(tx, organization, { row, fields })
    return announced
  })
}

/**
 * Returns the fields of a managed thing that differ from what was applied; `all` if the thing is gone, and none if it
 * was a key that has expired.
 */
function driftOf(
  row: ManagedRecord,
  { state, organization }: { readonly state: State; readonly organization: OrganizationRecord },
  deps: ConfigurationDeps,
): string[] {
  const key = row.section as SectionKey
  const section = sections[key]
  const thing = managedThing(row, state)
  if (thing === undefined) {
    const end = row.entry['expires_at']
    const ended = typeof end === 'string' && Date.parse(end) <= deps.clock.now()
    return ended ? [] : ['all']
  }
  const present = state.entries[key].get(row.name) ?? {}
  const fields = changedFields(section, present, row.entry).map(({ field }) => field)
  const now = digestsOf(section, row.entry, (path) => thing.secrets.get(path))
  const applied = openDigests(row, organization.id, deps.sealer)
  return canonical(now) === canonical(applied) ? fields : [...new Set([...fields, 'secret'])]
}

async function announceDrift(
  tx: Tx,
  { id }: OrganizationRecord,
  { row, fields }: { readonly row: ManagedRecord; readonly fields: readonly string[] },
): Promise<number> {
  const { section, name, label, subjectId } = row
  const drifted = fields.length > 0
  // Several nodes may check at the same time; only the first one to write announces the drift.
  const isNews = await managed.noteDrift(tx, id, { row, drifted })
  if (!isNews || !drifted) return 0
  const kind = sections[section as SectionKey].noun
  const data = { label, kind, name, subject_id: subjectId ?? null, fields: [...fields] }
  publish(tx, { organizationId: id, type: 'configuration.drifted', data })
  return 1
}

/** Gives a new directory group the role that a file set before the group existed. */
async function settle(
  tx: Tx,
  row: ManagedRecord,
  { organization, services }: Pick<Scene, 'organization' | 'services'>,
): Promise<void> {
  const scene = {
    ...{ organization, services, issued: [] },
    actor: { kind: 'system' as const, name: row.label },
    idOf: () => undefined,
    nameOf: () => undefined,
  }
  const wanted = { name: row.name, entry: row.entry, before: undefined, secretAt: () => '' }
  const subjectId = await groupSection.put(wanted, scene)
  if (subjectId !== undefined) await managed.put(tx, organization.id, [{ ...row, subjectId }])
}
