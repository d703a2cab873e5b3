import {
  checkKeyDefaults,
  checkOrganizationRate,
  readKeyDefaults,
  readOrganizationRate,
  type KeyDefaults,
} from '../access/index.ts'
import { Problem } from '../errors.ts'
import { createId, type OrganizationId } from '../ids.ts'
import type { Rate } from '../rate.ts'
import {
  directoryCounts,
  organizations,
  type Actor,
  type OrganizationRecord,
  type Plan,
  type Store,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'
import { recordOrganization } from './audit-entries.ts'
import { nameOf } from './name.ts'
import { requireActingOwner } from './owners.ts'
import { dayMs } from '../units.ts'

const onlyOwners = {
  permission: 'organization.delete',
  detail: 'Only an owner deletes the organization.',
} as const
const maxNameLength = 100
const slugShape = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

export interface OrganizationInput {
  readonly slug: string
  readonly name?: string | undefined
  readonly plan?: Plan | undefined
}

/** The fields that an organization's people may change; omitted ones stay. */
export interface OrganizationChange {
  readonly name?: string | undefined
  readonly keyDefaults?: Partial<KeyDefaults> | undefined
  /** The rate that all calls of the organization share; null removes it. */
  readonly rateLimit?: Rate | null | undefined
  readonly expectedVersion?: number | undefined
}

/** Creates, finds, changes and deletes organizations, and sets their plans. */
export class Organizations {
  readonly #store: Store

  constructor(deps: { readonly store: Store }) {
    this.#store = deps.store
  }

  /** Throws `invalid_input`, or `conflict` if the slug is taken. */
  async create(input: OrganizationInput, actor: Actor): Promise<OrganizationRecord> {
    const { plan = 'standard' } = input
    const checked = checkOrganization(input)
    return await this.#store.transaction(
      async (tx) => await insertOrganization(tx, { ...checked, plan }, actor),
    )
  }

  /** Finds an organization by slug or id; throws `not_found`. */
  async get(slugOrId: string): Promise<OrganizationRecord> {
    const found =
      (await organizations.findBySlug(this.#store, slugOrId)) ??
      (await organizations.find(this.#store, slugOrId))
    if (!found) {
      throw new Problem('not_found', `There is no organization ${slugOrId.slice(0, 40)}.`)
    }
    return found
  }

  async list(page: { after?: string | undefined; limit: number }): Promise<OrganizationRecord[]> {
    return await organizations.list(this.#store, page)
  }

  /**
   * Changes the given fields, and resolves when every node applies them. Throws `version_conflict` or `invalid_input`.
   */
  async change(
    id: OrganizationId,
    change: OrganizationChange,
    actor: Actor,
  ): Promise<OrganizationRecord> {
    const { expectedVersion } = change
    const name = change.name === undefined ? undefined : nameOf(change.name)
    const { result } = await this.#store.transactionConfirmed(async (tx) => {
      // Locks the row, because the settings are written as a whole and another transaction may be changing one of them.
      const before = await organizations.find(tx, id, true)
      const settings = before && settingsAfter(before, change)
      const changed = await organizations.update(tx, id, { name, settings, expectedVersion })
      if (!before || !changed) {
        throw new Problem('version_conflict', 'The organization was changed meanwhile.')
      }
      const entry = { before, changed, actor }
      if (changed.name !== before.name) recordPart(tx, 'renamed', entry)
      if (change.keyDefaults !== undefined) recordPart(tx, 'key_defaults_changed', entry)
      if (change.rateLimit !== undefined) recordPart(tx, 'rate_limit_changed', entry)
      return changed
    })
    return result
  }

  /**
   * Deletes an organization: its people and programs no longer reach it, but its rows stay for the operator. Throws
   * `permission_required`.
   */
  async remove(id: OrganizationId, actor: Actor): Promise<void> {
    await this.#store.transactionConfirmed(async (tx) => {
      // Waits until the organization's directory has finished writing.
      await directoryCounts.hold(tx, id)
      await requireActingOwner(tx, { organizationId: id, actor }, onlyOwners)
      const removed = await organizations.remove(tx, id)
      if (!removed) return
      recordOrganization(tx, id, { actor, verb: 'deleted', detail: { slug: removed.slug } })
    })
  }

  /** Sets the plan, and resolves when every node refuses what the plan no longer includes. Throws `not_found`. */
  async setPlan(slugOrId: string, plan: Plan, actor: Actor): Promise<OrganizationRecord> {
    const { id, plan: before } = await this.get(slugOrId)
    const { result } = await this.#store.transactionConfirmed(async (tx) => {
      await directoryCounts.hold(tx, id)
      const changed = await organizations.update(tx, id, { plan })
      if (!changed) throw new Problem('not_found', `There is no organization ${slugOrId}.`)
      const data = { before, after: plan }
      recordOrganization(tx, id, { actor, verb: 'plan_changed', detail: data })
      publish(tx, { organizationId: id, type: 'organization.plan_changed', data })
      return changed
    })
    return result
  }
}

/** Whether a text has the form of an organization's slug. */
export function isSlug(text: string): boolean {
  return slugShape.test(text)
}

/** Validates and normalizes slug and name; throws `invalid_input`. */
export function checkOrganization(input: OrganizationInput): { slug: string; name: string } {
  if (!isSlug(input.slug)) {
    throw new Problem(
      'invalid_input',
      'A slug has 1 to 40 of a-z, 0-9 and -, and neither starts nor ends with -.',
    )
  }
  const name = (input.name ?? input.slug).trim()
  if (name === '' || name.length > maxNameLength) {
    throw new Problem('invalid_input', `A name has 1 to ${maxNameLength} characters.`)
  }
  return { slug: input.slug, name }
}

/** Inserts a validated organization within a larger transaction. Throws `conflict` if the slug is taken. */
export async function insertOrganization(
  tx: Tx,
  checked: { slug: string; name: string; plan: Plan },
  actor: Actor,
): Promise<OrganizationRecord> {
  const id = createId('org', tx.now)
  const created = await organizations.insert(tx, { id, ...checked })
  if (!created) throw new Problem('conflict', `There is an organization ${checked.slug} already.`)
  recordOrganization(tx, id, { actor, verb: 'created', detail: checked })
  return created
}

/** Returns the settings after a change; undefined if it changes none of them. */
function settingsAfter({ settings: before }: OrganizationRecord, change: OrganizationChange) {
  const { keyDefaults, rateLimit } = change
  if (keyDefaults === undefined && rateLimit === undefined) return undefined
  const settings = { ...before }
  if (keyDefaults !== undefined) {
    settings['keyDefaults'] = checkKeyDefaults({ ...readKeyDefaults(before), ...keyDefaults })
  }
  if (rateLimit === null) delete settings['rateLimit']
  else if (rateLimit !== undefined) settings['rateLimit'] = checkOrganizationRate(rateLimit)
  return settings
}

/** How audit entries describe the parts of an organization that people change. */
const describe = {
  renamed: ({ name }: OrganizationRecord) => name,
  key_defaults_changed: describeDefaults,
  rate_limit_changed: describeRate,
}

function recordPart(
  tx: Tx,
  verb: keyof typeof describe,
  {
    before,
    changed,
    actor,
  }: { before: OrganizationRecord; changed: OrganizationRecord; actor: Actor },
): void {
  const detail = { before: describe[verb](before), after: describe[verb](changed) }
  recordOrganization(tx, changed.id, { actor, verb, detail })
}

function describeRate({ settings }: OrganizationRecord): Record<string, unknown> {
  const { calls, perSeconds, burst } = readOrganizationRate(settings) ?? {}
  if (calls === undefined) return { rate_limit: 'none' }
  return { calls, per_seconds: perSeconds, ...(burst === undefined ? {} : { burst }) }
}

function describeDefaults({ settings }: OrganizationRecord): Record<string, unknown> {
  const { scheme, expiresAfterMs, cidrs } = readKeyDefaults(settings)
  return {
    scheme,
    expires_after: expiresAfterMs === undefined ? 'never' : `${expiresAfterMs / dayMs}d`,
    cidrs: cidrs ?? 'all',
  }
}
