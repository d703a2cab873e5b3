import { asStorageProblem, isWaitTooLong, type HistoryChange, type Store } from '../store/index.ts'
import type { Log, Metrics } from '../telemetry/index.ts'
import { every, idleTurnMs, lazily } from '../timers.ts'

const lookForEndEveryMs = 1000
const proveWithinMs = 1000

/** Returns a function that reports, in log and metrics, that the database was replaced or went back in time. */
export function reportHistory({ log, metrics }: { log: Log; metrics: Metrics }) {
  const changes = metrics.counter(
    'intercept_database_history_changes_total',
    'How often the database turned out to be another one: another server, or an older state.',
    [{ reason: 'server' }, { reason: 'lost' }],
  )
  return ({ reason, before, after }: HistoryChange): void => {
    changes.add({ reason })
    const fields = { reason, before, after }
    if (reason === 'lost') {
      log.error(
        fields,
        'the database went back in time: what it lost is lost; every cache is dropped',
      )
    } else {
      log.warn(fields, 'another database server answers; every cache is dropped')
    }
  }
}

/**
 * Creates a log for work that talks only to the database: its failures during a database outage are counted as part of
 * that outage and not logged separately. Work with other destinations can fail with the same errors, so it must use the
 * normal log.
 */
export function logBesideOutages(log: Log, outages: Outages): Log {
  const unlessAway =
    (write: Log['warn']): Log['warn'] =>
    (fields, text) => {
      const { err } = fields as { err?: unknown }
      if (asStorageProblem(err) !== undefined && !isWaitTooLong(err)) outages.refused(err)
      else write(fields, text)
    }
  return {
    debug: (fields, text) => log.debug(fields, text),
    info: (fields, text) => log.info(fields, text),
    warn: unlessAway((fields, text) => log.warn(fields, text)),
    error: unlessAway((fields, text) => log.error(fields, text)),
    fatal: (fields, text) => log.fatal(fields, text),
    child: (fields) => logBesideOutages(log.child(fields), outages),
  }
}

/**
 * Counts the work refused because of a database outage; each outage is logged once at its start and once at its end.
 */
interface Outages {
  refused(cause: unknown): void
}

interface StoreWatchDeps {
  readonly store: Store
  readonly log: Log
  readonly metrics: Metrics
}

/** Reports in log and metrics how this node reaches the database and the other nodes. */
export function watchStore(deps: StoreWatchDeps): Outages & AsyncDisposable {
  measureStanding(deps)
  return new StoreWatch(deps)
}

class StoreWatch implements Outages, AsyncDisposable {
  readonly #deps: StoreWatchDeps
  readonly #refusals: ReturnType<Metrics['counter']>
  readonly #forgotten: ReturnType<Metrics['counter']>
  readonly #looking: AsyncDisposable
  #forgottenBefore = 0
  #refusedInOutage = 0
  #refusedBefore = 0
  #wasOff = false
  /** Runs only during an outage, so that it wakes no idle node. */
  #stopLookingForEnd: () => void = () => undefined

  constructor(deps: StoreWatchDeps) {
    this.#deps = deps
    this.#refusals = deps.metrics.counter(
      'intercept_storage_refusals_total',
      'Calls, requests and background work that failed because the database did not answer.',
    )
    this.#forgotten = deps.metrics.counter(
      'intercept_nodes_forgotten_total',
      'Nodes that stopped without leaving, and that this node has therefore removed from the list of nodes.',
    )
    this.#looking = every(
      idleTurnMs,
      async () => this.#look(),
      (err) => deps.log.error({ err }, 'the state of the store could not be told'),
    )
  }

  refused(cause: unknown): void {
    this.#refusals.add()
    if (this.#refusedInOutage === 0) {
      this.#deps.log.warn(
        { err: cause },
        'the database does not answer: what needs it is refused until it does',
      )
      this.#stopLookingForEnd = lazily.every(lookForEndEveryMs, () => this.#lookForEnd())
    }
    this.#refusedInOutage += 1
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopLookingForEnd()
    await this.#looking[Symbol.asyncDispose]()
  }

  #look(): void {
    const { store, log } = this.#deps
    const { clockOffsetMs, isClockOff, forgottenNodes } = store.status()
    if (forgottenNodes > this.#forgottenBefore) {
      this.#forgotten.add({}, forgottenNodes - this.#forgottenBefore)
      this.#forgottenBefore = forgottenNodes
    }
    if (isClockOff === this.#wasOff) return
    this.#wasOff = isClockOff
    const fields = { offset_ms: clockOffsetMs }
    if (isClockOff) {
      log.warn(
        fields,
        "this machine's clock is wrong by the database's, which decides: set it by NTP",
      )
    } else {
      log.info(fields, "this machine's clock is right again")
    }
  }

  /** Ends an outage once the feed is current and nothing has been refused since the last check. */
  #lookForEnd(): void {
    const { store, log } = this.#deps
    const mayBeOver = this.#refusedInOutage === this.#refusedBefore
    if (mayBeOver && store.feed.isCurrent()) {
      log.info({ refused: this.#refusedInOutage }, 'the database answers again')
      this.#refusedInOutage = 0
      this.#stopLookingForEnd()
    }
    this.#refusedBefore = this.#refusedInOutage
  }
}

function measureStanding({ store, metrics }: StoreWatchDeps): void {
  // The feed of a node that nobody needs is read rarely, which must not look like an outage.
  metrics.beforeScrape(async () => void (await store.feed.prove(proveWithinMs)))
  metrics.highest(
    'intercept_feed_age_seconds',
    'Time since the change feed was read; from 1 s on, nothing that is remembered is trusted.',
    () => store.status().feedAgeMs / 1000,
  )
  metrics.highest(
    'intercept_silent_nodes',
    'Nodes of this database without a heartbeat for 10 s.',
    () => store.status().silentNodes,
  )
  metrics.highest(
    'intercept_clock_offset_seconds',
    "What this machine's clock is ahead of the database's.",
    () => store.status().clockOffsetMs / 1000,
  )
}
