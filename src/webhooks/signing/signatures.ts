import { createWebhookKeySigner, createWebhookSigner, type Secret } from '../../secrets/index.ts'

/** One of an organization's secrets; the current one has no end. Times are milliseconds since 1970. */
export interface SigningSecret {
  readonly secret: Secret
  readonly validUntil: number | undefined
}

/** Creates the headers that prove a delivery's origin. */
export interface DeliverySigner {
  /** `nowMs` is the time of the attempt; an older secret also signs until its overlap ends. */
  sign(eventId: string, body: Uint8Array, nowMs: number): Record<string, string>
}

/**
 * `secrets` has the current one first. Three headers follow Standard Webhooks; the fourth has a signature of the body
 * alone, with the current secret.
 */
export function createDeliverySigner(
  secrets: readonly SigningSecret[],
  privateKey: string | undefined,
): DeliverySigner {
  const signers = secrets.map(({ secret, validUntil }) => ({
    ...createWebhookSigner(secret),
    validUntil,
  }))
  const [newest] = signers
  if (!newest) throw new Error('an organization without a webhook secret cannot sign')
  const signByKey = privateKey === undefined ? undefined : createWebhookKeySigner(privateKey)

  return {
    sign(eventId, body, nowMs) {
      const timestamp = Math.floor(nowMs / 1000)
      let signatures = ''
      for (const signer of signers) {
        if (signer.validUntil !== undefined && signer.validUntil <= nowMs) continue
        signatures += `${signatures === '' ? '' : ' '}v1,${signer.signMessage(eventId, timestamp, body)}`
      }
      if (signByKey) signatures += ` v1a,${signByKey(eventId, timestamp, body)}`
      return {
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatures,
        'intercept-signature-256': `sha256=${newest.signBody(body)}`,
      }
    },
  }
}
