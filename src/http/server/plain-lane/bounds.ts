/** How many bytes of later requests are held while one is in progress; beyond that, reading pauses. */
export const maxHeldBytes = 64 * 1024
/**
 * Maximum reads for one head; a head that arrives in more pieces goes to the standard lane, which parses incrementally.
 */
export const maxPieces = 16
/**
 * Maximum requests taken from one connection before yielding to the event loop: one read may contain more than a
 * thousand, and answering all of them at once would delay everybody else by tens of milliseconds.
 */
export const maxTakenPerTurn = 32
/** How much longer an idle connection is kept than announced, as in Node. */
export const keepAliveGraceMs = 1000
