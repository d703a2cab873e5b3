/** The data kept about calls: records, counts, and notices derived from them. */
export { createTraffic, type Traffic } from './traffic.ts'
export type { Latency, Rollup } from './rollup.ts'
export { countsOf } from './call-counts.ts'
export { createAnnouncer, type Announcer } from './notices.ts'
export { dropOldPartitions } from './forget-calls.ts'
export { callLogOf } from './call-log.ts'
export { createRecorder, type Recorder } from './recorder.ts'
export { CallMetrics } from './call-metrics.ts'
