import { hash, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto'

/** Returns the SHA-256 digest in hex. Neither salt nor a slow hash is needed for secrets with 256 random bits. */
export function digest(text: string): string {
  return hash('sha256', text, 'hex')
}

/** SHA-256 in base64url, as PKCE's S256 requires (RFC 7636, section 4.2). */
export function digestBase64url(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** Compares two strings in constant time, by their digests, because `timingSafeEqual` requires equal lengths. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(digest(a), 'hex'), Buffer.from(digest(b), 'hex'))
}

const hexPool = Buffer.alloc(4096)
let hexUsed = hexPool.length

/** Returns this many random bytes in hex, drawn from a pool: cheap enough for trace ids, but not meant for secrets. */
export function randomHex(bytes: number): string {
  if (hexUsed + bytes > hexPool.length) {
    randomFillSync(hexPool)
    hexUsed = 0
  }
  hexUsed += bytes
  return hexPool.toString('hex', hexUsed - bytes, hexUsed)
}

/** Returns this many unguessable random bytes in base64url. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}
