import type { OrganizationId, RuleId } from '../ids.ts'
import type { CallRecord, Store, Tx } from '../store/index.ts'
import type { GuardedTarget } from '../targets/index.ts'
import { publish } from '../webhooks/index.ts'

/** Announces what organizations should hear of their traffic, summed up so that no caller can flood them. */
export interface Announcer {
  /** A key came from a browser's page. */
  exposed(call: CallRecord): void
  /** A call of an identified key was refused. */
  refused(call: CallRecord): void
  /** An upstream answered, or failed to. */
  upstream(target: GuardedTarget, answered: boolean): void
  /** Publishes what is due. */
  flush(nowMs: number): Promise<void>
}

interface Sum {
  readonly organizationId: OrganizationId
  readonly firstAt: number
  lastAt: number
  count: number
  /** Publishes it, as what it has become by then. */
  readonly publish: (tx: Tx, sum: Sum) => void
}

const exposedEveryMs = 3_600_000
const refusedEveryMs = 60_000
const maxSums = 5000
const maxKeys = 10_000
const failuresToUnhealthy = 5

/** Opens the announcer. */
export function createAnnouncer(store: Store, clock: { now(): number }): Announcer {
  let due: Sum[] = []
  let refusals = new Map<string, Sum>()
  let refusalsDueAt = 0
  const exposedAt = new Map<string, number>()
  const failures = new Map<string, number>()

  function announce(sum: Sum): void {
    if (due.length < maxSums) due.push(sum)
  }

  return {
    exposed(call) {
      // Once an hour and key: the rest is in the call records.
      if (call.at - (exposedAt.get(call.keyId) ?? -Infinity) < exposedEveryMs) return
      if (exposedAt.size >= maxKeys) exposedAt.clear()
      exposedAt.set(call.keyId, call.at)
      announce({
        ...once(call),
        publish(tx, { organizationId }) {
          const data = { key_id: call.keyId, address: call.address, agent: call.agent ?? null }
          publish(tx, { organizationId, type: 'api_key.exposed', data })
        },
      })
    },
    refused(call) {
      const name = `${call.keyId} ${call.targetId ?? ''} ${call.refusal ?? ''} ${call.ruleId ?? ''}`
      const sum = refusals.get(name)
      if (sum !== undefined) {
        sum.count++
        sum.lastAt = call.at
      } else if (refusals.size < maxSums) {
        refusals.set(name, {
          ...once(call),
          publish: (tx, summed) => publishRefused(tx, call, summed),
        })
      }
    },
    upstream(target, answered) {
      const before = failures.get(target.id) ?? 0
      if (answered) {
        if (before === 0) return
        failures.delete(target.id)
        if (before >= failuresToUnhealthy)
          announce(healthSum(target, 'target.recovered', clock.now()))
        return
      }
      if (failures.size >= maxKeys && before === 0) return
      failures.set(target.id, before + 1)
      if (before + 1 === failuresToUnhealthy)
        announce(healthSum(target, 'target.unhealthy', clock.now()))
    },
    async flush(nowMs) {
      if (nowMs >= refusalsDueAt && refusals.size > 0) {
        refusalsDueAt = nowMs + refusedEveryMs
        for (const sum of refusals.values()) announce(sum)
        refusals = new Map()
      }
      if (due.length === 0) return
      const batch = due
      due = []
      try {
        await store.transaction(async (tx) => {
          for (const sum of batch) sum.publish(tx, sum)
        })
      } catch (error) {
        // Said later, when the database is there again.
        due = [...batch, ...due].slice(0, maxSums)
        throw error
      }
    },
  }
}

function once(call: CallRecord) {
  return { organizationId: call.organizationId, firstAt: call.at, lastAt: call.at, count: 1 }
}

function publishRefused(tx: Tx, call: CallRecord, sum: Sum): void {
  publish(tx, {
    organizationId: sum.organizationId,
    type: 'call.refused',
    data: {
      key_id: call.keyId,
      target_id: call.targetId ?? null,
      code: call.refusal ?? null,
      check: call.stoppedAt ?? null,
      rule_id: (call.ruleId ?? null) as RuleId | null,
      count: sum.count,
      first_at: new Date(sum.firstAt).toISOString(),
      last_at: new Date(sum.lastAt).toISOString(),
    },
  })
}

function healthSum(
  target: GuardedTarget,
  type: 'target.recovered' | 'target.unhealthy',
  at: number,
): Sum {
  const { organizationId, id, slug } = target
  const data = { target_id: id, slug, at: new Date(at).toISOString() }
  return {
    organizationId,
    firstAt: at,
    lastAt: at,
    count: 1,
    publish: (tx) => publish(tx, { organizationId, type, data }),
  }
}
