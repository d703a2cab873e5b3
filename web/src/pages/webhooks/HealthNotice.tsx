import { webhookWords } from '../../../words/en/webhooks.ts'
import type { Endpoint } from '../../api/webhook-shapes.ts'
import { Notice } from '../../parts/Surface.tsx'
import { exact, Time } from '../../parts/Time.tsx'

const w = webhookWords.endpoint
const worthSaying = 3

export function HealthNotice({ endpoint }: { readonly endpoint: Endpoint }) {
  const { state, failures, failing_since: failingSince, probe_at: probeAt, deliveries } = endpoint
  const since = failingSince === undefined ? '' : exact(Date.parse(failingSince))
  if (state === 'held') {
    return (
      <Notice tone="caution" title={w.heldTitle(failures, since)}>
        <p>{w.heldText(deliveries.held + deliveries.pending)}</p>
        {probeAt === undefined ? undefined : (
          <p className="muted">
            {w.nextProbe}: <Time at={probeAt} form="relative" />
          </p>
        )}
      </Notice>
    )
  }
  if (state === 'disabled') {
    const reasons: Readonly<Record<string, string>> = w.reasons
    return (
      <Notice tone="refuse" title={w.disabledTitle}>
        <p>
          {reasons[endpoint.disabled_reason ?? ''] ?? endpoint.disabled_reason} {w.disabledNow}
        </p>
      </Notice>
    )
  }
  if (failures < worthSaying) return undefined
  return <Notice tone="caution" title={w.failing(failures, since)} />
}
