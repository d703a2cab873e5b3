/** What is counted and measured, for Prometheus. */
export { measureProcess } from './process.ts'
export { createMetrics, type Metrics } from './registry.ts'
