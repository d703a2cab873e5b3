/**
 * Publishes events. This entry file is separate, so that a command that only publishes does not load the delivery code.
 */
export { publish } from './publish.ts'
