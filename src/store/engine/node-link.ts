import type { Clock, Moment } from '../../clock.ts'
import { createId } from '../../ids.ts'
import type { Change } from '../db/changes.ts'
import {
  waitForConfirmation,
  type Confirmation,
  type ConfirmationState,
} from '../feed/confirmation.ts'
import { DatabaseClock } from '../feed/database-clock.ts'
import { systemTimers } from '../feed/feed-polls.ts'
import { ChangeFeed, type HistoryChange } from '../feed/feed.ts'
import { NodeRegistration, standsAlone } from '../feed/node-registration.ts'
import { patiently } from '../feed/patience.ts'
import type { EngineHandle } from './engine.ts'
import { MaybeCommittedError } from './commit-outcome.ts'
import { createFeedSource } from './feed-source.ts'
import { createNodeBook, forgetOldChanges, lookAtChange } from './node-book.ts'
import { probe } from './probe.ts'
import { asStorageProblem, isLockWaitTooLong, isWaitTooLong } from './unavailable.ts'
import { minuteMs } from '../../units.ts'

const proveWithinMs = 1000
const forgetChangesMs = minuteMs
const maxClockOffsetMs = 2000
// How long a change that must be confirmed, such as a revocation, is retried while it waits behind a stalled
// transaction.
const maxPatienceMs = 15_000
// How long a transaction that waits for a lock is retried: callers get a response within 5 s even if the last try takes
// 2 s.
const maxLocksMs = 3000

/** Stands for the confirmation of a change that needs none, or that is not committed yet. */
export const unconfirmed: Confirmation = { nodes: 0, silentNodes: 0, tookMs: 0 }

/** The state of a node's link to the database and to the other nodes. */
export interface StoreStatus {
  /** Milliseconds since this node last knew that it had read the whole feed. */
  readonly feedAgeMs: number
  /** How many other nodes have sent no heartbeat recently, as this node sees it. */
  readonly silentNodes: number
  /** How many nodes this one has removed because they sent no heartbeat for 15 s. */
  readonly forgottenNodes: number
  /** Milliseconds by which this machine's clock is ahead of the database's. */
  readonly clockOffsetMs: number
  /** Whether the two clocks differ by more than 2 s. */
  readonly isClockOff: boolean
}

/** Returns a clock that follows the database's if `isDatabases`, otherwise `machine`. */
export function sharedClock(machine: Clock, isDatabases: boolean): Clock {
  return isDatabases ? new DatabaseClock(machine) : machine
}

/** Keeps a process in touch with the database and the other nodes: clock, heartbeat, change feed. */
export class NodeLink implements AsyncDisposable {
  readonly feed: ChangeFeed
  readonly #handle: EngineHandle
  readonly #clock: Clock
  readonly #nodeId: string
  readonly #registration: NodeRegistration | undefined
  readonly #stops: (() => void)[] = []

  private constructor(handle: EngineHandle, deps: NodeLinkDeps) {
    const { machineClock, clock } = deps
    this.#handle = handle
    this.#clock = clock
    this.#nodeId = createId('node', clock.now())
    const book = createNodeBook(handle, this.#nodeId)
    this.#registration = deps.isNode
      ? new NodeRegistration({ book, clock, timers: systemTimers })
      : undefined
    this.feed = new ChangeFeed({
      source: createFeedSource(handle, clock instanceof DatabaseClock ? clock : undefined),
      // A jump of the machine's own clock reveals that the process was suspended.
      clock: machineClock,
      standing: this.#registration ?? standsAlone,
      onHistory: deps.onHistory,
    })
  }

  /** Registers the process if it is a node, finds the end of the feed and follows the feed from there. */
  static async start(handle: EngineHandle, deps: NodeLinkDeps): Promise<NodeLink> {
    await sampleDatabaseClock(handle, deps)
    const link = new NodeLink(handle, deps)
    const registration = link.#registration
    registration?.start(() => link.feed.mark())
    handle.onOther(() => link.feed.doubt())
    await link.feed.start()
    link.feed.onForeign(() => void registration?.beat().catch(() => undefined))
    link.#stops.push(
      () => link.feed.stop(),
      () => registration?.stop(),
    )
    if (registration !== undefined) {
      const forget = () => void forgetOldChanges(handle).catch(() => undefined)
      link.#stops.push(systemTimers.every(forgetChangesMs, forget))
    }
    return link
  }

  moment(): Moment {
    if (this.#clock instanceof DatabaseClock) return this.#clock.moment()
    const nowMs = this.#clock.now()
    return { nowMs, machineMs: nowMs, monotonicMs: this.#clock.monotonic() }
  }

  status(): StoreStatus {
    const offsetMs = this.#clock instanceof DatabaseClock ? this.#clock.offsetMs() : 0
    return {
      feedAgeMs: this.feed.ageMs(),
      silentNodes: this.#registration?.silent ?? 0,
      forgottenNodes: this.#registration?.forgotten ?? 0,
      clockOffsetMs: offsetMs,
      isClockOff: Math.abs(offsetMs) > maxClockOffsetMs,
    }
  }

  /**
   * Retries a transaction that waited too long for a connection or a lock, for up to 15 s while the database responds.
   */
  async patiently<T>(run: () => Promise<T>): Promise<T> {
    return await this.#retry({ maxMs: maxPatienceMs, isWaitTooLong }, run)
  }

  /** Retries a transaction that waited too long for a lock, for up to 3 s: each try waits for a lock only briefly. */
  async throughLocks<T>(run: () => Promise<T>): Promise<T> {
    return await this.#retry({ maxMs: maxLocksMs, isWaitTooLong: isLockWaitTooLong }, run)
  }

  async #retry<T>(
    limits: { maxMs: number; isWaitTooLong: (error: unknown) => boolean },
    run: () => Promise<T>,
  ): Promise<T> {
    const isAnswering = async () => await this.feed.prove(proveWithinMs)
    return await patiently({ clock: this.#clock, isAnswering, ...limits }, run)
  }

  /**
   * Waits until every live node has heard a change or has stopped trusting its caches. Throws `MaybeCommittedError` if
   * the database goes away meanwhile, and `ChangeLostError` if the database no longer has the change.
   */
  async confirm(change: Change | undefined): Promise<Confirmation> {
    const look = async (of: Change | undefined): Promise<ConfirmationState> => {
      try {
        return await lookAtChange(this.#handle, of)
      } catch (error) {
        if (asStorageProblem(error) === undefined) throw error
        throw new MaybeCommittedError('unconfirmed', error)
      }
    }
    return await waitForConfirmation({
      look,
      clock: this.#clock,
      wait: async (ms) => await new Promise((resolve) => setTimeout(resolve, ms)),
      self: this.#registration === undefined ? undefined : this.#nodeId,
      change,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop()
    if (this.#registration === undefined) return
    await createNodeBook(this.#handle, this.#nodeId)
      .leave()
      .catch(() => undefined)
  }
}

interface NodeLinkDeps {
  readonly machineClock: Clock
  readonly clock: Clock
  /** Whether this process serves requests from caches, so that other nodes wait for it to confirm changes. */
  readonly isNode: boolean
  readonly onHistory: ((change: HistoryChange) => void) | undefined
}

async function sampleDatabaseClock(
  handle: EngineHandle,
  { clock, machineClock }: NodeLinkDeps,
): Promise<void> {
  if (!(clock instanceof DatabaseClock)) return
  const db = { query: handle.background.query, engine: handle.engine }
  await clock.sample(async () => (await probe(db)).nowMs ?? machineClock.now())
}
