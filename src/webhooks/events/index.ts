/** Publishes events. A separate entry file, so that a command that only publishes does not load the delivery code. */
export { publish } from './publish.ts'
