import {
  checkKeyDefaults,
  checkOrganizationRate,
  readKeyDefaults,
  readOrganizationRate,
  type KeyDefaults,
} from '../access/index.ts'
import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
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
import { nameOf } from './name.ts'
import { requireActingOwner } from './owners.ts'

const onlyOwners = {
  permission: 'organization.delete',
  detail: 'Only an owner deletes the organization.',
} as const
const maxNameLength = 100
const slugShape = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** What a new organization is made of. */
export interface OrganizationInput {
  readonly slug: string
  readonly name?: string | undefined
  readonly plan?: Plan | undefined
}

/** What its people may change about an organization; what is left out stays. */
export interface OrganizationChange {
  readonly name?: string | undefined
  readonly keyDefaults?: Partial<KeyDefaults> | undefined
  /** What all of its calls share; null = no limit. */
  readonly rateLimit?: Rate | null | undefined
}

/** Organizations: create, find, change, set the plan. */
export interface Organizations {
  /** `invalid_input`, `conflict` if the slug is taken. */
  create(wish: OrganizationInput, actor: Actor): Promise<OrganizationRecord>
  /** By slug or id; `not_found`. */
  get(slugOrId: string): Promise<OrganizationRecord>
  list(page: { after?: string | undefined; limit: number }): Promise<OrganizationRecord[]>
  /** Changes what is given; `version_conflict`, `invalid_input`. */
  change(
    id: OrganizationId,
    wish: OrganizationChange,
    actor: Actor,
    expectedVersion?: number,
  ): Promise<OrganizationRecord>
  /** Deletes it for its people and programs; its rows stay for the operator. `permission_required`. */
  remove(id: OrganizationId, actor: Actor): Promise<void>
  /** `not_found`. */
  setPlan(slugOrId: string, plan: Plan, actor: Actor): Promise<OrganizationRecord>
}

/** Opens the organizations' rules. */
export function createOrganizations(deps: { store: Store; clock: Clock }): Organizations {
  const { store } = deps

  async function get(slugOrId: string): Promise<OrganizationRecord> {
    const found =
      (await organizations.findBySlug(store, slugOrId)) ??
      (await organizations.find(store, slugOrId))
    if (!found) {
      throw new Problem('not_found', `There is no organization ${slugOrId.slice(0, 40)}.`)
    }
    return found
  }

  return {
    get,
    list: async (page) => await organizations.list(store, page),
    async create(wish, actor) {
      const checked = checkOrganization(wish)
      return await store.transaction(
        async (tx) =>
          await insertOrganization(tx, { ...checked, plan: wish.plan ?? 'standard' }, actor),
      )
    },
    async change(id, wish, actor, expectedVersion) {
      const name = wish.name === undefined ? undefined : nameOf(wish.name)
      // A tighter rate holds on every node once this has answered.
      const { result } = await store.transactionConfirmed(async (tx) => {
        // Locked: the settings are written as a whole, and somebody else may change another of them now.
        const before = await organizations.find(tx, id, true)
        const settings = before && settingsOf(before, wish)
        const changed = await organizations.update(tx, id, { name, settings, expectedVersion })
        if (!before || !changed) {
          throw new Problem('version_conflict', 'The organization was changed meanwhile.')
        }
        if (changed.name !== before.name) {
          recordChange(tx, id, 'renamed', actor, { before: before.name, after: changed.name })
        }
        if (wish.keyDefaults !== undefined) {
          recordChange(tx, id, 'key_defaults_changed', actor, {
            before: describeDefaults(before),
            after: describeDefaults(changed),
          })
        }
        if (wish.rateLimit !== undefined) {
          recordChange(tx, id, 'rate_limit_changed', actor, {
            before: describeRate(before),
            after: describeRate(changed),
          })
        }
        return changed
      })
      return result
    },
    async remove(id, actor) {
      await store.transactionConfirmed(async (tx) => {
        // What its directory is just writing comes before.
        await directoryCounts.hold(tx, id)
        await requireActingOwner(tx, { organizationId: id, actor }, onlyOwners)
        const removed = await organizations.remove(tx, id)
        if (removed) recordChange(tx, id, 'deleted', actor, { slug: removed.slug })
      })
    },
    async setPlan(slugOrId, plan, actor) {
      const { id, plan: before } = await get(slugOrId)
      // What the plan no longer holds is refused by every node once this has answered.
      const { result } = await store.transactionConfirmed(async (tx) => {
        await directoryCounts.hold(tx, id)
        const changed = await organizations.update(tx, id, { plan })
        if (!changed) throw new Problem('not_found', `There is no organization ${slugOrId}.`)
        record(tx, {
          organizationId: id,
          actor,
          action: 'organization.plan_changed',
          subject: { kind: 'organization', id },
          detail: { before, after: plan },
        })
        publish(tx, {
          organizationId: id,
          type: 'organization.plan_changed',
          data: { before, after: plan },
        })
        tx.changed({ kind: 'organization', organizationId: id, subjectId: id })
        return changed
      })
      return result
    },
  }
}

/** An organization's settings as somebody wants them; undefined where nothing is said of any. */
function settingsOf({ settings: before }: OrganizationRecord, input: OrganizationChange) {
  const { keyDefaults, rateLimit } = input
  if (keyDefaults === undefined && rateLimit === undefined) return undefined
  const settings = { ...before }
  if (keyDefaults !== undefined) {
    settings['keyDefaults'] = checkKeyDefaults({ ...readKeyDefaults(before), ...keyDefaults })
  }
  if (rateLimit === null) delete settings['rateLimit']
  else if (rateLimit !== undefined) settings['rateLimit'] = checkOrganizationRate(rateLimit)
  return settings
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
    expires_after: expiresAfterMs === undefined ? 'never' : `${expiresAfterMs / 86_400_000}d`,
    cidrs: cidrs ?? 'all',
  }
}

function recordChange(
  tx: Tx,
  id: OrganizationId,
  verb: string,
  actor: Actor,
  detail: Record<string, unknown>,
): void {
  record(tx, {
    organizationId: id,
    actor,
    action: `organization.${verb}`,
    subject: { kind: 'organization', id },
    detail,
  })
  tx.changed({ kind: 'organization', organizationId: id, subjectId: id })
}

/** Adds a checked organization in a transaction that does more. `conflict` if the slug is taken. */
export async function insertOrganization(
  tx: Tx,
  wish: { slug: string; name: string; plan: Plan },
  actor: Actor,
): Promise<OrganizationRecord> {
  const id = createId('org', tx.now)
  const created = await organizations.insert(tx, { id, ...wish })
  if (!created) throw new Problem('conflict', `There is an organization ${wish.slug} already.`)
  record(tx, {
    organizationId: id,
    actor,
    action: 'organization.created',
    subject: { kind: 'organization', id },
    detail: wish,
  })
  tx.changed({ kind: 'organization', organizationId: id, subjectId: id })
  return created
}

/** Slug and name as they are kept; `invalid_input`. */
export function checkOrganization(wish: OrganizationInput): { slug: string; name: string } {
  if (!slugShape.test(wish.slug)) {
    throw new Problem(
      'invalid_input',
      'A slug has 1 to 40 of a-z, 0-9 and -, and neither starts nor ends with -.',
    )
  }
  const name = (wish.name ?? wish.slug).trim()
  if (name === '' || name.length > maxNameLength) {
    throw new Problem('invalid_input', `A name has 1 to ${maxNameLength} characters.`)
  }
  return { slug: wish.slug, name }
}
