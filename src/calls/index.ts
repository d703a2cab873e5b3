/** What is kept of calls: records, counts per minute, and notices made from them. */
export { createTraffic, type Latency, type Rollup, type Traffic } from './minute-counts.ts'
export { createAnnouncer, type Announcer } from './notices.ts'
export { callLogOf } from './call-log.ts'
export { createRecorder, type Recorder } from './recorder.ts'
export { CallMetrics } from './call-metrics.ts'
