import { createWebhookSigner, sameSecret, webhookSecret } from '../../secrets/index.ts'

const toleranceSeconds = 300

/** A delivery as received: header names in lower case, and the body's raw bytes. */
export interface ReceivedDelivery {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/**
 * Verifies a delivery as a receiver should: allows five minutes of clock difference, compares in constant time, and
 * accepts any one matching signature. Returns undefined if the delivery is genuine, otherwise the reason why not.
 */
export function verifyDelivery(
  received: ReceivedDelivery,
  secretText: string,
  nowMs: number,
): string | undefined {
  const { headers, body } = received
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !timestamp || !signatures) return 'a webhook-… header is missing'
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds'
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) {
    return 'webhook-timestamp is more than five minutes away'
  }
  const signer = createWebhookSigner(webhookSecret(secretText))
  const expected = `v1,${signer.signMessage(id, Number(timestamp), body)}`
  const genuine = signatures.split(' ').some((signature) => sameSecret(signature, expected))
  return genuine ? undefined : 'no signature matches this secret and this body'
}
