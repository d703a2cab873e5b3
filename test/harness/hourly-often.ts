// Loaded before a node's own code: shortens every interval of an hour or more to 20 seconds.
const hourMs = 3_600_000
const oftenMs = 20_000
const usual = globalThis.setInterval

globalThis.setInterval = (call: () => void, ms = 0) => usual(call, ms >= hourMs ? oftenMs : ms)
