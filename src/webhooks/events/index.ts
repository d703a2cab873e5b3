/** Publishes events. It has its own entry file so that a command that only publishes does not load deliveries. */
export { publish } from './publish.ts'
