/** What is counted and measured, for Prometheus. */
export { measureProcess } from './process.ts'
export {
  createMetrics,
  type Counter,
  type Gauge,
  type Histogram,
  type Labels,
  type Metrics,
} from './registry.ts'
