import type { OrganizationId, TargetId } from '../ids.ts'
import type { Sealer } from '../secrets/index.ts'
import { targets, type Store } from '../store/index.ts'
import { guardedTarget, type GuardedTarget } from './guarded-target.ts'
import type { TargetSettings } from './settings.ts'

/** The targets that are in use, ready in memory. */
export interface TargetCache {
  /** An organization's targets by slug; without waiting while they are remembered and the change feed is current. */
  of(organizationId: OrganizationId): TargetsBySlug | Promise<TargetsBySlug>
  /** Calls back when a target may have changed; with undefined when any may have. */
  onChange(heard: (targetId: TargetId | undefined) => void): void
}

export type TargetsBySlug = ReadonlyMap<string, GuardedTarget>

const maxReads = 3

/** A register that remembers the targets of up to `organizations` organizations, the longest remembered forgotten first. */
export function createTargetCache(deps: {
  store: Store
  sealer: Sealer
  defaults: TargetSettings
  organizations?: number
}): TargetCache {
  const { store, sealer, defaults, organizations = 10_000 } = deps
  const remembered = new Map<OrganizationId, TargetsBySlug>()
  const listeners: ((targetId: TargetId | undefined) => void)[] = []
  // Counts changes, so that a read that overlaps one is not remembered.
  let generation = 0

  store.feed.on(
    'target',
    (change) => {
      generation++
      remembered.delete(change.organizationId as OrganizationId)
      for (const heard of listeners) heard(change.subjectId as TargetId)
    },
    forgetAll,
  )

  function forgetAll(): void {
    generation++
    remembered.clear()
    for (const heard of listeners) heard(undefined)
  }

  async function read(organizationId: OrganizationId): Promise<TargetsBySlug> {
    for (let reads = 1; ; reads++) {
      const before = generation
      const records = await targets.list(store, organizationId)
      const found = new Map(
        records.map((record) => [record.slug, guardedTarget(record, sealer, defaults)]),
      )
      // A change that came in while we read may not be in what we read.
      if (before === generation) remember(organizationId, found)
      else if (reads < maxReads) continue
      return found
    }
  }

  function remember(organizationId: OrganizationId, found: TargetsBySlug): void {
    if (remembered.size >= organizations) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    remembered.set(organizationId, found)
  }

  return {
    of: (organizationId) =>
      (store.feed.isCurrent() ? remembered.get(organizationId) : undefined) ?? read(organizationId),
    onChange: (heard) => void listeners.push(heard),
  }
}
