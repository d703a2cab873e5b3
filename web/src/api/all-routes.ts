import type { Routes } from './routes.ts'
import type { WebhookRoutes } from './webhook-routes.ts'

/** Every route of the JSON API that the dashboard may call. */
export type AllRoutes = Omit<Routes, keyof WebhookRoutes> & WebhookRoutes
