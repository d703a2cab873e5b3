import type { Metrics } from '../../telemetry/index.ts'
import type { AttemptOutcome } from '../../store/index.ts'

export function measureAttempts(metrics: Metrics): (outcome: AttemptOutcome) => void {
  const took = metrics.histogram(
    'intercept_webhook_attempt_seconds',
    'How long a receiver took to answer.',
  )
  const labels = {
    delivered: { outcome: 'delivered' },
    pending: { outcome: 'failed' },
    dead: { outcome: 'dead' },
  }
  const attempts = metrics.counter(
    'intercept_webhook_attempts_total',
    'Attempts to deliver, by what became of the delivery.',
    Object.values(labels),
  )
  return ({ state, durationMs }) => {
    attempts.add(labels[state])
    took.observe(durationMs / 1000)
  }
}
