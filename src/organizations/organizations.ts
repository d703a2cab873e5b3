import { record } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../errors.ts'
import { createId } from '../ids.ts'
import {
  organizations,
  type Actor,
  type OrganizationRecord,
  type Plan,
  type Store,
} from '../store/index.ts'
import { publish } from '../webhooks/index.ts'

const longestName = 100
const slugShape = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/

/** What a new organization is made of. */
export interface OrganizationWish {
  readonly slug: string
  readonly name?: string | undefined
  readonly plan?: Plan | undefined
}

/** Organizations: create, find, set the plan. */
export interface Organizations {
  /** `invalid_input`, `conflict` if the slug is taken. */
  create(wish: OrganizationWish, actor: Actor): Promise<OrganizationRecord>
  /** By slug or id; `not_found`. */
  get(slugOrId: string): Promise<OrganizationRecord>
  list(page: { after?: string | undefined; limit: number }): Promise<OrganizationRecord[]>
  /** `not_found`. */
  setPlan(slugOrId: string, plan: Plan, actor: Actor): Promise<OrganizationRecord>
}

/** Opens the organizations' rules. */
export function createOrganizations(needs: { store: Store; clock: Clock }): Organizations {
  const { store, clock } = needs

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
      const { slug, name } = checkWish(wish)
      return await store.transaction(async (tx) => {
        const id = createId('org', clock.now())
        const plan = wish.plan ?? 'standard'
        const created = await organizations.insert(tx, { id, slug, name, plan })
        if (!created) throw new Problem('conflict', `There is an organization ${slug} already.`)
        record(tx, {
          organizationId: id,
          actor,
          action: 'organization.created',
          subject: { kind: 'organization', id },
          detail: { slug, name, plan },
        })
        tx.changed({ kind: 'organization', organizationId: id, subjectId: id })
        return created
      })
    },
    async setPlan(slugOrId, plan, actor) {
      const { id, plan: before } = await get(slugOrId)
      return await store.transaction(async (tx) => {
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
    },
  }
}

function checkWish(wish: OrganizationWish): { slug: string; name: string } {
  if (!slugShape.test(wish.slug)) {
    throw new Problem(
      'invalid_input',
      'A slug has 1 to 40 of a-z, 0-9 and -, and neither starts nor ends with -.',
    )
  }
  const name = (wish.name ?? wish.slug).trim()
  if (name === '' || name.length > longestName) {
    throw new Problem('invalid_input', `A name has 1 to ${longestName} characters.`)
  }
  return { slug: wish.slug, name }
}
