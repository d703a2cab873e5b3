/** Events, endpoints, deliveries: everything that happens is announced, signed, and never lost. */
export { publish } from './publish.ts'
