/** The typed client for Intercept: administer it from a program, call guarded APIs, verify webhooks. */
export { createClient, type Client, type ClientOptions } from './client.ts'
export { InterceptError, type Problem } from './errors.ts'
export { createGuardedFetch, type GuardedFetch } from './guarded.ts'
export { verifyWebhook, WebhookVerificationError, type WebhookEvent } from './webhook.ts'
export type * from './api.ts'
