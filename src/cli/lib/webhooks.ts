import type { EndpointBooks } from '../../store/index.ts'
import type { Webhooks } from '../../webhooks/index.ts'
import { withServices, type Services } from './services.ts'
import type { Terminal } from './terminal.ts'

/** The webhook operations that commands use, on the database or over the API. */
export interface WebhookWork {
  readonly endpoints: Pick<
    Webhooks['endpoints'],
    'organizationOf' | 'list' | 'get' | 'create' | 'remove' | 'sendSample'
  >
  readonly books: (organizationId: string) => Promise<EndpointBooks[]>
  readonly secrets: Pick<Webhooks['secrets'], 'reveal' | 'rotate'> & {
    readonly list: (organizationId: string) => Promise<{ validUntil: number | undefined }[]>
  }
  readonly deliveries: Pick<Webhooks['deliveries'], 'list' | 'find'>
  readonly replay: Pick<Webhooks['replay'], 'one' | 'count'> & {
    readonly start: (
      ...args: Parameters<Webhooks['replay']['start']>
    ) => Promise<{ readonly id: string; readonly total: number }>
  }
}

/**
 * Runs a function with the webhook operations, on the database or over the API; only a running server sends deliveries,
 * never this process.
 */
export async function withWebhookWork<T>(
  terminal: Terminal,
  work: (webhooks: WebhookWork, services: Services) => Promise<T>,
): Promise<T> {
  return await withServices(terminal, async (services) => {
    const { remote } = services
    if (remote !== undefined) {
      const { remoteWebhooks } = await import('../remote/webhooks.ts')
      return await work(remoteWebhooks(remote), services)
    }
    const { createOutbound } = await import('../../http/outbound/index.ts')
    const { createLog } = await import('../../telemetry/index.ts')
    const { createWebhooks } = await import('../../webhooks/index.ts')
    const {
      outboundAllowCidrs: allowCidrs,
      loopbackIsOpen: allowLoopback,
      limits,
    } = services.config
    await using outbound = createOutbound({ allowCidrs, allowLoopback })
    await using webhooks = createWebhooks({
      ...services,
      outbound,
      log: createLog({ level: 'silent' }),
      maxEndpoints: limits.webhookEndpoints,
    })
    return await work(webhooks, services)
  })
}
