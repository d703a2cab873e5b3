/**
 * The pages that people read in a browser, other than those of sign-in: the dashboard, the documentation, and a page
 * for each refusal.
 */
import { join } from 'node:path'
import type { App } from '../http/index.ts'
import { addPages } from './dashboard-pages.ts'
import { Library } from './site/library.ts'
import { registerSite } from './site-pages.ts'

export function registerPages(
  app: App,
  deps: Omit<Parameters<typeof addPages>[1], 'webFolder'>,
): void {
  addPages(app, { ...deps, webFolder: join(import.meta.dirname, '../../web') })
  registerSite(app, new Library(join(import.meta.dirname, '../../docs')))
}
