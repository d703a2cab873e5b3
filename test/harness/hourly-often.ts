// Loaded before a node's own code: repeats intervals of an hour or longer every 20 seconds instead.
const hourMs = 3_600_000
const oftenMs = 20_000
const usual = globalThis.setInterval

globalThis.setInterval = (call: () => void, ms = 0) => usual(call, ms >= hourMs ? oftenMs : ms)
