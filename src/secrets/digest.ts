import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

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

const poolBytes = 4096
/** Random bytes in hex; those before `poolUsed` have been handed out. */
let pool = ''
let poolUsed = poolBytes

/**
 * Returns this many random bytes in hex (4,096 at most), drawn from a pool: cheap enough for trace ids, but not meant
 * for secrets.
 */
export function randomHex(bytes: number): string {
  if (poolUsed + bytes > poolBytes) {
    pool = randomBytes(poolBytes).toString('hex')
    poolUsed = 0
  }
  poolUsed += bytes
  // A slice costs far less than rendering bytes; it keeps its pool of 8 KB alive while it is itself in use.
  return pool.slice(2 * (poolUsed - bytes), 2 * poolUsed)
}

/** Returns this many unguessable random bytes in base64url. */
export function randomToken(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}
