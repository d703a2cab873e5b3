import {
  createHmac,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  sign,
} from 'node:crypto'
import { credentialFormats, lengthOf, plainDigits } from '../credential-formats.ts'
import { checksum, checksumHolds, hintOf, randomBase62 } from './mint.ts'
import { Secret } from './secret.ts'

const { prefix } = credentialFormats.webhookSecret
const secretLength = lengthOf(credentialFormats.webhookSecret)
// An Ed25519 public key's SPKI document ends with the 32 raw bytes (RFC 8410, section 4).
const rawKeyBytes = 32

/**
 * Mints an organization's webhook secret: 42 random base62 characters and a checksum of six. These 48 characters are
 * valid base64 even for a strict decoder (no padding, no - or _), so that Standard Webhooks libraries accept them as a
 * key.
 */
export function mintWebhookSecret(): Secret {
  const body = prefix + randomBase62(plainDigits)
  return webhookSecret(body + checksum(body))
}

/** Restores a secret from its stored text. */
export function webhookSecret(text: string): Secret {
  return new Secret(text, hintOf(text, credentialFormats.webhookSecret))
}

/** Whether a text has a webhook secret's shape and checksum. */
export function isWebhookSecret(text: string): boolean {
  return (
    text.length === secretLength &&
    text.startsWith(prefix) &&
    isBase62(text.slice(prefix.length)) &&
    checksumHolds(text)
  )
}

function isBase62(text: string): boolean {
  return /^[A-Za-z0-9]+$/.test(text)
}

/** Signs deliveries with one secret. */
export interface WebhookSigner {
  /**
   * Standard Webhooks `v1`: base64 HMAC-SHA256 over `id.timestamp.body`, keyed with the decoded part after
   * `svc_whsec_`.
   */
  signMessage(id: string, timestamp: number, body: Uint8Array): string
  /** Hex HMAC-SHA256 over the body alone, keyed with the secret's complete text. */
  signBody(body: Uint8Array): string
}

/** Creates a signer that prepares its keys once, because signing with a raw key takes five times as long. */
export function createWebhookSigner(secret: Secret): WebhookSigner {
  const text = secret.reveal()
  const decoded = createSecretKey(Buffer.from(text.slice(prefix.length), 'base64'))
  const whole = createSecretKey(Buffer.from(text, 'utf8'))
  return {
    signMessage: (id, timestamp, body) =>
      createHmac('sha256', decoded).update(`${id}.${timestamp}.`).update(body).digest('base64'),
    signBody: (body) => createHmac('sha256', whole).update(body).digest('hex'),
  }
}

/** A key pair for Standard Webhooks' `v1a`: the public key is published, the private key is stored sealed. */
export interface WebhookKeyPair {
  /** `whpk_` followed by the 32 raw bytes in base64. */
  readonly publicKey: string
  /** PKCS #8 in base64. */
  readonly privateKey: string
}

/** Generates an Ed25519 key pair. */
export function mintWebhookKeyPair(): WebhookKeyPair {
  const pair = generateKeyPairSync('ed25519')
  const spki = pair.publicKey.export({ format: 'der', type: 'spki' })
  return {
    publicKey: `whpk_${spki.subarray(-rawKeyBytes).toString('base64')}`,
    privateKey: pair.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
  }
}

/** Creates a function that signs `id.timestamp.body` with Ed25519 and returns the signature in base64. */
export function createWebhookKeySigner(
  privateKey: string,
): (id: string, timestamp: number, body: Uint8Array) => string {
  const key = createPrivateKey({
    key: Buffer.from(privateKey, 'base64'),
    format: 'der',
    type: 'pkcs8',
  })
  return (id, timestamp, body) =>
    sign(null, Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]), key).toString('base64')
}
