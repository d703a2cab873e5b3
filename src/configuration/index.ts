/** An organization's configuration as a file: export, plan, apply. */
export { applyConfiguration, plan, type ConfigurationDeps } from './apply.ts'
export type { Configuration } from './configuration.ts'
export { presentConfiguration } from './export.ts'
export type { Difference } from './plan.ts'
export { readConfiguration } from './read.ts'
export { renderConfiguration } from './render.ts'
