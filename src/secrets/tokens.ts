import type { CryptoKey, JWK } from 'jose'

// jose is loaded on first use, because most command-line commands do not need it.
const loadJose = async () => await import('jose')

/** A key pair for ES256, as JWKs in JSON; the private one must be sealed before it is stored. */
export interface SigningKeyPair {
  readonly publicJwk: string
  readonly privateJwk: string
}

/** A private key that is ready to sign, with its key id. */
export interface Signer {
  readonly kid: string
  readonly key: CryptoKey | Uint8Array
}

/** The claims of a signed token; times are seconds since 1970 (RFC 7519, section 2). */
export type Claims = Readonly<Record<string, unknown>>

/** Generates a P-256 key pair for ES256. */
export async function mintSigningKeyPair(): Promise<SigningKeyPair> {
  const { exportJWK, generateKeyPair } = await loadJose()
  const pair = await generateKeyPair('ES256', { extractable: true })
  return {
    publicJwk: JSON.stringify(await exportJWK(pair.publicKey)),
    privateJwk: JSON.stringify(await exportJWK(pair.privateKey)),
  }
}

/** Creates a signer from a private JWK in JSON. */
export async function loadSigner(kid: string, privateJwk: string): Promise<Signer> {
  const { importJWK } = await loadJose()
  return { kid, key: await importJWK(JSON.parse(privateJwk) as JWK, 'ES256') }
}

/** Signs claims as an ES256 JWT; `typ` prevents one kind of token from passing as another (RFC 8725, section 3.11). */
export async function signToken(signer: Signer, typ: string, claims: Claims): Promise<string> {
  const { SignJWT } = await loadJose()
  return await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: signer.kid, typ })
    .sign(signer.key)
}

/** What a token is checked against. */
export interface TokenExpectation {
  readonly typ: string
  readonly issuer: string
  readonly audience: string
  readonly nowMs: number
}

/**
 * Returns the claims of a token that is signed with ES256 by a key that `publicJwkOf` returns, and that meets the
 * expectation; otherwise undefined. The algorithm is fixed here and never taken from the token (RFC 8725, section 3.1).
 */
export async function verifyToken(
  token: string,
  publicJwkOf: (kid: string) => string | undefined,
  expected: TokenExpectation,
): Promise<Claims | undefined> {
  const { importJWK, jwtVerify } = await loadJose()
  try {
    const { payload } = await jwtVerify(
      token,
      async (header) => {
        const jwk = header.kid === undefined ? undefined : publicJwkOf(header.kid)
        if (jwk === undefined) throw new Error('unknown kid')
        return await importJWK(JSON.parse(jwk) as JWK, 'ES256')
      },
      {
        algorithms: ['ES256'],
        typ: expected.typ,
        issuer: expected.issuer,
        audience: expected.audience,
        currentDate: new Date(expected.nowMs),
        requiredClaims: ['exp', 'iat', 'sub'],
      },
    )
    return payload
  } catch {
    return undefined
  }
}
