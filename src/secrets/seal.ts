import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { digest } from './digest.ts'

const nonceBytes = 12
const tagBytes = 16

/**
 * Authenticates data that is not secret: someone who can write to the database but has no master key can't forge it.
 */
export interface Authenticator {
  /** Returns an HMAC-SHA256 made with the newest master key, together with that key's id. */
  authenticate(parts: readonly (string | number)[]): string
  /** Whether a MAC was made from exactly these parts with one of the configured master keys. */
  isAuthentic(code: string, parts: readonly (string | number)[]): boolean
  /** Whether a MAC or a sealed text was made with a master key other than the newest. */
  isOld(sealed: string): boolean
}

/** Seals and opens secrets at rest. */
export interface Sealer extends Authenticator {
  /**
   * Encrypts with AES-256-GCM and the newest master key; opening requires the same `context` (organization, record,
   * field).
   */
  seal(plain: string, context: readonly string[]): string
  /** Throws if the text was altered, moved to another context, or sealed with an unknown key. */
  open(sealed: string, context: readonly string[]): string
  /** Whether the master key with this id is one of the configured keys. */
  knows(keyId: string): boolean
  /** The newest master key's id, stored with the data so that a start with the wrong key is refused. */
  readonly keyId: string
}

/** Creates a sealer from the master keys, newest first: the newest seals, the others only open. */
export function createSealer(masterSecrets: readonly string[]): Sealer {
  const keys = masterSecrets.map((secret) => {
    const key = Buffer.from(hkdfSync('sha256', secret, 'intercept', 'seal/v1', 32))
    const macKey = Buffer.from(hkdfSync('sha256', secret, 'intercept', 'authenticate/v1', 32))
    return { id: digest(key.toString('hex')).slice(0, 8), key, macKey }
  })
  const [newest] = keys
  if (!newest) throw new Error('a sealer needs at least one master key')

  return {
    keyId: newest.id,
    knows: (keyId) => keys.some(({ id }) => id === keyId),
    authenticate: (parts) => `v1.${newest.id}.${mac(newest.macKey, parts).toString('base64url')}`,
    isAuthentic(code, parts) {
      const [version, keyId, text = ''] = code.split('.')
      const key = keys.find((candidate) => candidate.id === keyId)
      if (version !== 'v1' || !key) return false
      const given = Buffer.from(text, 'base64url')
      const expected = mac(key.macKey, parts)
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
    isOld: (sealed) => sealed.split('.')[1] !== newest.id,
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', newest.key, nonce).setAAD(aad(context))
      const body = Buffer.concat([
        cipher.update(plain, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ])
      return `v1.${newest.id}.${nonce.toString('base64url')}.${body.toString('base64url')}`
    },
    open(sealed, context) {
      const [version, keyId, nonce, body] = sealed.split('.')
      const key = keys.find((candidate) => candidate.id === keyId)
      if (version !== 'v1' || !key || nonce === undefined || body === undefined) {
        throw new Error(`sealed under an unknown key (${version}.${keyId})`)
      }
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key.key, Buffer.from(nonce, 'base64url'))
        .setAAD(aad(context))
        .setAuthTag(bytes.subarray(-tagBytes))
      return (
        decipher.update(bytes.subarray(0, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
      )
    },
  }
}

/**
 * Creates a sealer for a node whose master key is missing: every member throws `reason`, so only work that needs no key
 * succeeds.
 */
export function sealerWithoutKey(reason: Error): Sealer {
  const fail = (): never => {
    throw reason
  }
  return {
    seal: fail,
    open: fail,
    isOld: fail,
    knows: fail,
    authenticate: fail,
    isAuthentic: fail,
    get keyId() {
      return fail()
    },
  }
}

function mac(key: Buffer, parts: readonly (string | number)[]): Buffer {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest()
}

/**
 * Encodes a context as additional authenticated data, with each part's length in front, so that ['a', 'bc'] and ['ab',
 * 'c'] differ.
 */
function aad(context: readonly string[]): Buffer {
  return Buffer.from(context.map((part) => `${part.length}:${part}`).join(''))
}
