import type { Change } from '../db/changes.ts'
import type { ConfirmationState } from '../feed/confirmation.ts'
import { unsettledMs } from '../tables/nodes/database-server.ts'
import type { EngineHandle } from './engine.ts'
import { forgetChanges } from '../tables/nodes/changes.ts'
import type { NodeBook } from '../feed/node-registration.ts'
import * as nodes from '../tables/nodes/nodes.ts'
import { hourMs } from '../../units.ts'

const changesKeptMs = hourMs

/** Creates a node's `NodeBook` over the background connections, because the main ones may all be waiting for locks. */
export function createNodeBook(handle: EngineHandle, id: string): NodeBook {
  const lane = handle.background
  return {
    beat: async (seen, isLooking) =>
      await lane.autocommit(async (tx) =>
        isLooking
          ? await nodes.beatAndLook(tx, { id, seen })
          : { wasThere: await nodes.beat(tx, { id, seen }) },
      ),
    remove: async (node) =>
      void (await lane.transact(async (tx) => await nodes.removeSilent(tx, node))),
    leave: async () => void (await lane.transact(async (tx) => await nodes.leave(tx, id))),
  }
}

/** Reads, in one snapshot, the state of a change and of the nodes that should confirm it. */
export async function lookAtChange(
  handle: EngineHandle,
  change: Change | undefined,
): Promise<ConfirmationState> {
  const { serverAgeMs, ...state } = await nodes.look(
    { query: handle.urgent.query, engine: handle.engine },
    change,
  )
  return { ...state, unsettledMs: unsettledMs(serverAgeMs) }
}

/**
 * Deletes changes older than an hour. No node needs them: a node that has not read the feed for half an hour starts
 * over.
 */
export async function forgetOldChanges(handle: EngineHandle): Promise<void> {
  await handle.background.transact(async (tx) => await forgetChanges(tx, tx.now - changesKeptMs))
}
