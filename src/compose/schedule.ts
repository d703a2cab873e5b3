import type { Config } from '../config.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Gateway } from '../gateway/index.ts'
import type { Domain } from './domain.ts'
import { every, inTurns } from '../timers.ts'
import { hourMs, minuteMs } from '../units.ts'

const maxWaitMs = 1000

/** Starts the recurring tasks. Every node runs them, and each task may run on several nodes at once. */
export function startSchedule(
  config: Config,
  services: Infrastructure & Domain & { readonly gateway: Gateway },
): AsyncDisposable {
  const {
    clock,
    storeLog,
    keys,
    sso,
    signingKeys,
    sessions,
    audit,
    gateway,
    directories,
    accessTokens,
    configurations,
  } = services
  const { auditMs, callsMs } = config.retention
  const tasks: Record<string, readonly [intervalMs: number, run: () => Promise<unknown>]> = {
    announceExpiringTokens: [minuteMs, async () => await accessTokens.announceExpiring()],
    announceExpired: [minuteMs, async () => await keys.announceExpired()],
    announceSilent: [minuteMs, async () => await keys.announceSilent()],
    checkDrift: [minuteMs, async () => await configurations.announceDrift()],
    checkDomains: [minuteMs, async () => await sso.domains.checkDue()],
    forgetSso: [hourMs, async () => await sso.outcomes.forget()],
    rotate: [hourMs, async () => await signingKeys.rotate()],
    forgetSessions: [hourMs, async () => await sessions.forget()],
    announceHeads: [hourMs, async () => await audit.announceHeads()],
    forgetAudit: [hourMs, async () => await audit.forget(clock.now() - auditMs)],
    forgetWalks: [hourMs, async () => await directories.lists.forget()],
    forgetCalls: [hourMs, async () => await gateway.forget(clock.now() - callsMs)],
  }
  const started = new AsyncDisposableStack()
  // Tasks that are due at the same time would open a database connection each.
  const runInTurn = inTurns(maxWaitMs)
  for (const [task, [intervalMs, run]] of Object.entries(tasks)) {
    const runLater = async (): Promise<void> => await runInTurn(run)
    started.use(
      every(intervalMs, runLater, (err) => storeLog.error({ err, task }, 'a task failed')),
    )
  }
  return started
}
