import { hasPassed } from '../clock.ts'
import type { OrganizationId, RuleId } from '../ids.ts'
import { UnknownOrganization, type CallRecord, type Store, type Tx } from '../store/index.ts'
import type { GuardedTarget } from '../targets/index.ts'
import { hourMs, minuteMs } from '../units.ts'
import { publish } from '../webhooks/events/index.ts'

/** Announces notable traffic to organizations, summarized so that no caller can flood them. */
export interface Announcer {
  /** Called when a call with an identified key was refused because a web page made it. */
  exposed(call: CallRecord): void
  /** Called when a call with an identified key was refused or its upstream failed. */
  refused(call: CallRecord): void
  /**
   * Called when an upstream's response begins (`answered`), or when the upstream fails by itself before that; not for a
   * call that ended otherwise, because it says nothing about the upstream.
   */
  upstream(target: GuardedTarget, answered: boolean): void
  /** Publishes everything that is due. */
  flush(nowMs: number): Promise<void>
}

interface Sum {
  readonly organizationId: OrganizationId
  readonly firstAt: number
  lastAt: number
  count: number
  /** Publishes the summary, whose counts are final by then. */
  readonly publish: (tx: Tx, sum: Sum) => void
}

const exposedEveryMs = hourMs
const refusedEveryMs = minuteMs
const maxSums = 5000
const maxKeys = 10_000
const failuresToUnhealthy = 5

export function createAnnouncer(store: Store, clock: { now(): number }): Announcer {
  return new SummingAnnouncer(store, clock)
}

class SummingAnnouncer implements Announcer {
  readonly #store: Store
  readonly #clock: { now(): number }
  #due: Sum[] = []
  #refusals = new Map<string, Sum>()
  #refusedAt: number | undefined
  readonly #exposedAt = new Map<string, number>()
  readonly #failures = new Map<string, number>()

  constructor(store: Store, clock: { now(): number }) {
    this.#store = store
    this.#clock = clock
  }

  exposed(call: CallRecord): void {
    // One announcement per key and hour is enough.
    if (!hasPassed(exposedEveryMs, this.#exposedAt.get(call.keyId), call.at)) return
    if (this.#exposedAt.size >= maxKeys) this.#exposedAt.clear()
    this.#exposedAt.set(call.keyId, call.at)
    this.#announce({
      ...once(call),
      publish(tx, { organizationId }) {
        const data = { key_id: call.keyId, address: call.address, agent: call.agent ?? null }
        publish(tx, { organizationId, type: 'api_key.exposed', data })
      },
    })
  }

  refused(call: CallRecord): void {
    const name = `${call.keyId} ${call.targetId ?? ''} ${call.refusal ?? ''} ${call.ruleId ?? ''}`
    const sum = this.#refusals.get(name)
    if (sum !== undefined) {
      sum.count++
      sum.lastAt = call.at
    } else if (this.#refusals.size < maxSums) {
      this.#refusals.set(name, {
        ...once(call),
        publish: (tx, summed) => publishRefused(tx, call, summed),
      })
    }
  }

  upstream(target: GuardedTarget, answered: boolean): void {
    // Usually no upstream has failed.
    if (answered && this.#failures.size === 0) return
    const before = this.#failures.get(target.id) ?? 0
    const at = this.#clock.now()
    if (answered) {
      this.#failures.delete(target.id)
      if (before >= failuresToUnhealthy) this.#announce(healthSum(target, 'target.recovered', at))
      return
    }
    if (this.#failures.size >= maxKeys && before === 0) return
    this.#failures.set(target.id, before + 1)
    if (before + 1 === failuresToUnhealthy) {
      this.#announce(healthSum(target, 'target.unhealthy', at))
    }
  }

  async flush(nowMs: number): Promise<void> {
    if (this.#refusals.size > 0 && hasPassed(refusedEveryMs, this.#refusedAt, nowMs)) {
      this.#refusedAt = nowMs
      for (const sum of this.#refusals.values()) this.#announce(sum)
      this.#refusals = new Map()
    }
    if (this.#due.length === 0) return
    const batch = this.#due
    this.#due = []
    await this.#publish(batch)
  }

  async #publish(batch: readonly Sum[]): Promise<void> {
    try {
      await this.#store.transaction(async (tx) => {
        for (const sum of batch) sum.publish(tx, sum)
      })
    } catch (error) {
      if (error instanceof UnknownOrganization) {
        const { organizationId: unknown } = error
        return await this.#publish(batch.filter(({ organizationId }) => organizationId !== unknown))
      }
      this.#due = [...batch, ...this.#due].slice(0, maxSums)
      throw error
    }
  }

  #announce(sum: Sum): void {
    if (this.#due.length < maxSums) this.#due.push(sum)
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
