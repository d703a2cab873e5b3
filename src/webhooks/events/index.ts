/** Announcing what happened. An entry of its own: a command that only announces loads no deliveries. */
export { publish } from './publish.ts'
