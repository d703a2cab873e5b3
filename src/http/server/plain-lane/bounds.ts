/** How much of later requests is read while one is in progress. */
export const maxHeldBytes = 64 * 1024
/** Maximum reads for one head; a head in more pieces goes to the standard lane, which parses incrementally. */
export const maxPieces = 16
/**
 * Requests taken from one connection before yielding to the event loop: a read has room for more than a thousand, and
 * refusing all of them at once would delay everybody else by tens of milliseconds.
 */
export const maxTakenPerTurn = 32
/** Node allows callers this much longer than it announces. */
export const keepAliveGraceMs = 1000
