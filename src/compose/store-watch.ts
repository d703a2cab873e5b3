import { asStorageProblem, isWaitTooLong, type HistoryChange, type Store } from '../store/index.ts'
import type { Log, Metrics } from '../telemetry/index.ts'
import { every } from '../timers.ts'

const lookEveryMs = 1000

/** Says in log and metrics that the database turned out to have another history. */
export function tellHistory({ log, metrics }: { log: Log; metrics: Metrics }) {
  const changes = metrics.counter(
    'intercept_database_history_changes_total',
    'How often the database turned out to be another one: another server, or an older state.',
  )
  return ({ reason, before, after }: HistoryChange): void => {
    changes.add({ reason })
    const told = { reason, before, after }
    if (reason === 'lost') {
      log.error(
        told,
        'the database went back in time: what it lost is lost; every cache is dropped',
      )
    } else {
      log.warn(told, 'another database server answers; every cache is dropped')
    }
  }
}

/** The log for everybody else: what fails only because the database is away is part of that outage, and no line of its own. */
export function logBesideOutages(log: Log, { refused }: Outages): Log {
  const unlessAway =
    (write: Log['warn']): Log['warn'] =>
    (fields, text) => {
      const { err } = fields as { err?: unknown }
      if (asStorageProblem(err) !== undefined && !isWaitTooLong(err)) refused(err)
      else write(fields, text)
    }
  return {
    debug: (fields, text) => log.debug(fields, text),
    info: (fields, text) => log.info(fields, text),
    warn: unlessAway((fields, text) => log.warn(fields, text)),
    error: unlessAway((fields, text) => log.error(fields, text)),
    fatal: (fields, text) => log.fatal(fields, text),
    child: (fields) => logBesideOutages(log.child(fields), { refused }),
  }
}

/** Counts what the database's absence refused; an outage is one line at its start and one at its end. */
interface Outages {
  refused(cause: unknown): void
}

/** Says in log and metrics how this node stands to the database and to the other nodes. */
export function watchStore(deps: {
  store: Store
  log: Log
  metrics: Metrics
}): Outages & AsyncDisposable {
  const { store, log, metrics } = deps
  metrics.measured(
    'intercept_feed_age_seconds',
    'Time since the change feed was read; from 1 s on, nothing that is remembered is trusted.',
    () => store.status().feedAgeMs / 1000,
    'max',
  )
  metrics.measured(
    'intercept_silent_nodes',
    'Nodes of this database without a heartbeat for 10 s.',
    () => store.status().silentNodes,
    'max',
  )
  metrics.measured(
    'intercept_clock_offset_seconds',
    "What this machine's clock is ahead of the database's.",
    () => store.status().clockOffsetMs / 1000,
    'max',
  )
  const refusals = metrics.counter(
    'intercept_storage_refusals_total',
    'Calls, requests and background work that failed because the database did not answer.',
  )
  let refusedInOutage = 0
  let refusedBefore = 0
  function refused(cause: unknown): void {
    refusals.add()
    if (refusedInOutage === 0) {
      log.warn(
        { err: cause },
        'the database does not answer: what needs it is refused until it does',
      )
    }
    refusedInOutage += 1
  }
  /** Over when the feed is current, and nothing was refused since the last look. */
  function lookForEnd(): void {
    const isOver = store.feed.isCurrent() && refusedInOutage === refusedBefore
    if (isOver && refusedInOutage > 0) {
      log.info({ refused: refusedInOutage }, 'the database answers again')
      refusedInOutage = 0
    }
    refusedBefore = refusedInOutage
  }

  let wasOff = false
  const looking = every(
    lookEveryMs,
    async () => {
      lookForEnd()
      const { clockOffsetMs, isClockOff } = store.status()
      if (isClockOff === wasOff) return
      wasOff = isClockOff
      const told = { offset_ms: clockOffsetMs }
      if (isClockOff) {
        log.warn(
          told,
          "this machine's clock is wrong by the database's, which decides: set it by NTP",
        )
      } else {
        log.info(told, "this machine's clock is right again")
      }
    },
    (err) => log.error({ err }, 'the state of the store could not be told'),
  )
  return { refused, [Symbol.asyncDispose]: async () => await looking[Symbol.asyncDispose]() }
}
