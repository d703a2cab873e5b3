/** What people read in a browser: the dashboard's files, the page of each refusal, the guides. */
import { join } from 'node:path'
import type { App } from '../http/index.ts'
import { addPages } from './dashboard-pages.ts'
import { registerGuidePages } from './guide-pages.ts'
import { registerProblemPages } from './problem-pages.ts'

/** Registers every page; `/api` belongs to others. */
export function registerPages(
  app: App,
  deps: Omit<Parameters<typeof addPages>[1], 'webFolder'>,
): void {
  addPages(app, { ...deps, webFolder: join(import.meta.dirname, '../../web') })
  registerProblemPages(app)
  registerGuidePages(app)
}
