const prefix = 'svc_whsec_'
const toleranceSeconds = 5 * 60

/** A verified delivery: the event that happened. */
export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly api_version: string
  readonly organization_id: string
  readonly sequence: number
  readonly data: Readonly<Record<string, unknown>>
}

/** Thrown for a delivery that must not be trusted. */
export class WebhookVerificationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
  }
}

/**
 * Verifies a delivery (Standard Webhooks) and returns its event, or throws `WebhookVerificationError`. Pass `rawBody`
 * exactly as received: parsing and serializing it again would break the signature.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (
    !/^\d{1,12}$/.test(timestamp) ||
    Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds
  ) {
    throw new WebhookVerificationError('The delivery is too old, or a clock is wrong.')
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  const key = await importSecret(secret)
  for (const signature of signatures.split(' ')) {
    const [version, text = ''] = signature.split(',', 2)
    const bytes = version === 'v1' ? fromBase64(text) : undefined
    // `verify` compares in constant time.
    if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(new TextDecoder().decode(body)) as WebhookEvent
    }
  }
  throw new WebhookVerificationError('No signature fits: another secret, or a changed body.')
}

function headerOf(
  headers: Headers | Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value === 'string' && value !== '') return value
  throw new WebhookVerificationError(`The header ${name} is missing.`)
}

async function importSecret(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith(prefix) ? fromBase64(secret.slice(prefix.length)) : undefined
  if (bytes === undefined) throw new WebhookVerificationError(`The secret begins with ${prefix}.`)
  return await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text)
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
