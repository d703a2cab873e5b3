import type { OrganizationId, TargetId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import { FeedCache, targets, type Store } from '../store/index.ts'
import { guardedTarget, type GuardedTarget } from './guarded-target.ts'
import type { TargetSettings } from './settings.ts'

export interface TargetCache {
  /** Returns an organization's targets by slug; synchronously while they are cached and the change feed is current. */
  of(organizationId: OrganizationId): TargetsBySlug | Promise<TargetsBySlug>
  /**
   * Calls `heard` with a target's id when that target may have changed, and with undefined when any of them may have.
   */
  onChange(heard: (targetId: TargetId | undefined) => void): void
}

export type TargetsBySlug = ReadonlyMap<string, GuardedTarget>

/** Creates a cache of the targets of up to `organizations` organizations; the oldest entry is evicted first. */
export function createTargetCache(deps: {
  store: Store
  sealer: Sealer
  defaults: TargetSettings
  organizations?: number
}): TargetCache {
  const { store, sealer, defaults, organizations = 10_000 } = deps

  async function read(organizationId: string): Promise<TargetsBySlug> {
    const records = await targets.list(store, organizationId as OrganizationId)
    return new Map(records.map((record) => [record.slug, guardedTarget(record, sealer, defaults)]))
  }

  const cache = new FeedCache<TargetsBySlug>({
    feed: store.feed,
    capacity: organizations,
    read,
    subjectsOf: (_, organizationId) => organizationId,
    forgets: { target: ({ organizationId }) => organizationId },
  })
  return {
    of: (organizationId) => cache.peek(organizationId) ?? readAll(organizationId),
    onChange: (heard) =>
      void cache.onChange((change) =>
        heard(change?.kind === 'target' ? change.subjectId : undefined),
      ),
  }

  async function readAll(organizationId: OrganizationId): Promise<TargetsBySlug> {
    return (await cache.find(organizationId)) ?? new Map()
  }
}
