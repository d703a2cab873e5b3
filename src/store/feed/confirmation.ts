import type { Clock } from '../../clock.ts'
import type { Change } from '../db/changes.ts'
import type { NodeRow } from '../tables/nodes/nodes.ts'

// Nodes trust their caches for 1000 ms after a read; the rest is for clocks that do not run alike.
const confirmWithinMs = 1010
const pollMs = 4
// A node that has not confirmed by then is most likely gone: poll less often.
const promptMs = 100
const slowPollMs = 20

/** How far a change had got when it was answered. */
export interface Confirmation {
  /** Nodes that had heard it, this one included if it serves. */
  readonly nodes: number
  /** Nodes that did not confirm; their caches have expired. */
  readonly silentNodes: number
  /** Milliseconds from the commit to the last confirmation. */
  readonly tookMs: number
}

/** What the database says of a change at one moment. */
export interface ConfirmationState {
  readonly nodes: readonly NodeRow[]
  /** Whether the change is still there. */
  readonly hasChange: boolean
  /** Milliseconds for which nodes may still trust what they read from the server before this one. */
  readonly unsettledMs: number
}

/** Thrown where the change is gone: the database was replaced by one that does not have it. */
export class ChangeLostError extends Error {
  constructor() {
    super('the database was replaced by an older copy, which does not have this change')
    this.name = 'ChangeLostError'
  }
}

/** Waits until every node has confirmed a change, or trusts nothing any more (1 s). */
export async function waitForConfirmation(deps: {
  readonly look: (change: Change | undefined) => Promise<ConfirmationState>
  readonly clock: Pick<Clock, 'monotonic'>
  readonly wait: (ms: number) => Promise<void>
  /** The node that asks; undefined where it serves nobody. */
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
  return tookMs < promptMs ? pollMs : Math.min(slowPollMs, Math.max(0, confirmWithinMs - tookMs))
}

function hasHeard(node: NodeRow, change: Change): boolean {
  return node.isOfThisHistory && node.seenSequence >= change.sequence
}
