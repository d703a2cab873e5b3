import { nextTurn } from '../../timers.ts'

// Shorter than any turn of the event loop that does work.
const idleTurnMs = 0.1
const maxWaitMs = 250

/**
 * Resolves after an idle turn of the event loop, by which time every earlier connection has been accepted. If the loop
 * is never idle, it waits at most 250 ms.
 */
export async function idleTurn(monotonic: () => number): Promise<void> {
  const startedAt = monotonic()
  for (let before = startedAt; ;) {
    await nextTurn()
    const now = monotonic()
    if (now - before < idleTurnMs || now - startedAt > maxWaitMs) return
    before = now
  }
}
