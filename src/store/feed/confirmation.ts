import type { Clock } from '../../clock.ts'
import type { Change } from '../db/changes.ts'
import type { NodeRow } from '../tables/nodes/nodes.ts'

// Nodes trust their caches for 1000 ms after a read; the rest allows for clock drift.
const confirmWithinMs = 1010
// A node that has not confirmed after `promptMs` is probably gone, so poll less often.
const poll = { everyMs: 4, promptMs: 100, slowMs: 20 }

/** How many nodes had confirmed a change when the wait for them ended. */
export interface Confirmation {
  /** How many nodes confirmed the change, including this one if it serves requests. */
  readonly nodes: number
  /** How many nodes did not confirm the change; their caches have expired. */
  readonly silentNodes: number
  /** Milliseconds from the commit until every node had confirmed the change or its caches had expired. */
  readonly tookMs: number
}

/** The state of a change and of the nodes, read in one snapshot. */
export interface ConfirmationState {
  readonly nodes: readonly NodeRow[]
  /** Whether the change still exists in the database. */
  readonly hasChange: boolean
  /** Milliseconds for which nodes may still trust what they read from the previous server. */
  readonly unsettledMs: number
}

/** Thrown when a change no longer exists because a copy of the database without it replaced ours. */
export class ChangeLostError extends Error {
  constructor() {
    super('the database was replaced by an older copy, which does not have this change')
    this.name = 'ChangeLostError'
  }
}

/**
 * Waits until each node has confirmed a change or its caches have expired, which takes about a second at most. Throws
 * `ChangeLostError` if the change no longer exists.
 */
export async function waitForConfirmation(deps: {
  readonly look: (change: Change | undefined) => Promise<ConfirmationState>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly wait: (ms: number) => Promise<void>
  /** The id of the waiting node; undefined if it does not serve requests. */
  readonly self: string | undefined
  readonly change: Change | undefined
}): Promise<Confirmation> {
  const { look, clock, wait, self, change } = deps
  const committedAt = clock.monotonic()
  for (;;) {
    const { nodes, hasChange, unsettledMs } = await look(change)
    if (!hasChange) throw new ChangeLostError()
    const others = nodes.filter(({ id }) => id !== self)
    const silent = change === undefined ? [] : others.filter((node) => !hasHeard(node, change))
    const tookMs = clock.monotonic() - committedAt
    const isHeard = silent.length === 0 || tookMs >= confirmWithinMs
    if (isHeard && (unsettledMs <= 0 || change === undefined)) {
      const heard = others.length - silent.length + (self === undefined ? 0 : 1)
      return { nodes: heard, silentNodes: silent.length, tookMs: Math.round(tookMs * 10) / 10 }
    }
    await wait(isHeard ? unsettledMs : pauseMs(tookMs))
  }
}

function pauseMs(tookMs: number): number {
  if (tookMs < poll.promptMs) return poll.everyMs
  return Math.min(poll.slowMs, Math.max(0, confirmWithinMs - tookMs))
}

function hasHeard(node: NodeRow, change: Change): boolean {
  return node.isOfThisHistory && node.seenSequence >= change.sequence
}
