// Shorter than any turn of the event loop with work in it.
const idleTurnMs = 0.1
const maxWaitMs = 250

/**
 * Resolves after a turn of the event loop that did next to nothing: whoever had connected by then was accepted a moment
 * ago. A loop that is never idle is waited for 250 ms.
 */
export async function idleTurn(monotonic: () => number): Promise<void> {
  const startedAt = monotonic()
  for (let before = startedAt; ;) {
    await new Promise((resolve) => setImmediate(resolve))
    const now = monotonic()
    if (now - before < idleTurnMs || now - startedAt > maxWaitMs) return
    before = now
  }
}
