import { hasPassed, type Clock } from '../clock.ts'
import type { Actor, Store } from '../store/index.ts'
import { record } from './record.ts'
import { minuteMs } from '../units.ts'

const againAfterMs = 10 * minuteMs
const maxRemembered = 10_000

/**
 * Records what members and access tokens were denied. Pages ask repeatedly, so a node skips a denial that it recorded
 * less than ten minutes ago and still remembers.
 */
export interface Denials {
  note(organizationId: string, actor: Actor, denied: { permission: string; role: string }): void
}

/** Creates the record of denials; callers never wait for it. */
export function createDenials(deps: {
  store: Store
  clock: Clock
  log: { error(fields: object, text: string): void }
}): Denials {
  const { store, clock, log } = deps
  const noted = new Map<string, number>()

  return {
    note(organizationId, actor, denied) {
      const what = `${organizationId} ${actor.id} ${denied.permission}`
      if (!hasPassed(againAfterMs, noted.get(what), clock.now())) return
      if (noted.size >= maxRemembered) noted.clear()
      noted.set(what, clock.now())
      store
        .transaction(async (tx) => {
          record(tx, {
            organizationId,
            actor,
            action: 'permission.denied',
            subject: { kind: 'user', id: actor.id ?? actor.kind },
            detail: denied,
          })
        })
        .catch((err: unknown) => log.error({ err }, 'a denial could not be recorded'))
    },
  }
}
