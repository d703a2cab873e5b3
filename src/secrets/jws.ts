import { createHash } from 'node:crypto'
import type { JWK } from 'jose'

// jose is loaded on first use, because most command-line commands do not need it.
const loadJose = async () => await import('jose')

/** The signature algorithms accepted from others: asymmetric ones only (RFC 8725, section 3.1). */
export const signatureAlgorithms = {
  RS256: { kty: 'RSA', hash: 'sha256' },
  RS384: { kty: 'RSA', hash: 'sha384' },
  RS512: { kty: 'RSA', hash: 'sha512' },
  PS256: { kty: 'RSA', hash: 'sha256' },
  PS384: { kty: 'RSA', hash: 'sha384' },
  PS512: { kty: 'RSA', hash: 'sha512' },
  ES256: { kty: 'EC', curve: 'P-256', hash: 'sha256' },
  ES384: { kty: 'EC', curve: 'P-384', hash: 'sha384' },
  ES512: { kty: 'EC', curve: 'P-521', hash: 'sha512' },
  EdDSA: { kty: 'OKP', curve: 'Ed25519', hash: 'sha512' },
  Ed25519: { kty: 'OKP', curve: 'Ed25519', hash: 'sha512' },
} as const satisfies Record<string, { kty: string; curve?: string; hash: string }>

export type SignatureAlgorithm = keyof typeof signatureAlgorithms

/** A public key as published by someone else (RFC 7517); its members are unchecked. */
export type PublicJwk = Readonly<Record<string, unknown>>

/**
 * Verifies a compact JWS with this key and exactly this algorithm: `invalid` if the signature is wrong, `unusable` if
 * the key or the token can't be used for that.
 */
export async function verifyJws(
  token: string,
  jwk: PublicJwk,
  algorithm: SignatureAlgorithm,
): Promise<'valid' | 'invalid' | 'unusable'> {
  // With a public exponent of 1, an attacker could forge a signature for any text.
  if (jwk['kty'] === 'RSA' && exponentOf(jwk) < 3n) return 'unusable'
  const { compactVerify, errors, importJWK } = await loadJose()
  try {
    const key = await importJWK(publicPart(jwk), algorithm)
    if (key instanceof Uint8Array) return 'unusable'
    await compactVerify(token, key, { algorithms: [algorithm] })
    return 'valid'
  } catch (error) {
    // jose refuses keys that are too short (RSA below 2048 bits) with a TypeError.
    if (error instanceof errors.JWSSignatureVerificationFailed) return 'invalid'
    return 'unusable'
  }
}

/**
 * Returns the left half of a text's hash in base64url, as required for at_hash and c_hash (OpenID Connect Core,
 * sections 3.1.3.6 and 3.3.2.11).
 */
export function halfHash(algorithm: SignatureAlgorithm, text: string): string {
  const digest = createHash(signatureAlgorithms[algorithm].hash).update(text, 'ascii').digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

/** Generates an RSA key pair for client assertions: the private JWK to be sealed, the public JWK for the provider. */
export async function mintClientKey(
  keyId: string,
): Promise<{ privateJwk: Record<string, unknown>; publicJwk: Record<string, unknown> }> {
  const { exportJWK, generateKeyPair } = await loadJose()
  // RS256 is the algorithm that most providers accept for private_key_jwt.
  const pair = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true })
  const named = { kid: keyId, alg: 'RS256', use: 'sig' }
  return {
    privateJwk: { ...(await exportJWK(pair.privateKey)), ...named },
    publicJwk: { ...(await exportJWK(pair.publicKey)), ...named },
  }
}

/** Signs a client assertion's claims (RFC 7523, section 3) with the private JWK from `mintClientKey`. */
export async function signClientAssertion(
  claims: Readonly<Record<string, unknown>>,
  privateJwk: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { CompactSign, importJWK } = await loadJose()
  const key = await importJWK(privateJwk as JWK, 'RS256')
  return await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: String(privateJwk['kid']) })
    .sign(key)
}

function exponentOf(jwk: PublicJwk): bigint {
  const bytes = typeof jwk['e'] === 'string' ? Buffer.from(jwk['e'], 'base64url') : Buffer.alloc(0)
  return BigInt(`0x0${bytes.toString('hex')}`)
}

function publicPart(jwk: PublicJwk): JWK {
  const { kty, n, e, crv, x, y } = jwk
  const part = { kty, n, e, crv, x, y }
  return Object.fromEntries(Object.entries(part).filter(([, value]) => typeof value === 'string'))
}
