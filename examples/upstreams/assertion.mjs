// Verifies Intercept-Assertion with nothing but Node (20 or later): an ES256 JWT, made for one target, good for 60 s.
import { createPublicKey, verify } from 'node:crypto'

/** Makes a verifier; `issuer` is Intercept's identity address, `audience` the name of the target. */
export function createVerifier({ issuer, audience, fetch = globalThis.fetch, now = Date.now }) {
  let keys = new Map()
  let fetchedAt = -Infinity

  async function keyFor(kid) {
    // An unknown key may be a new one; nobody can make us ask more than once a minute.
    if (!keys.has(kid) && now() - fetchedAt > 60_000) {
      fetchedAt = now()
      const response = await fetch(`${issuer}/.well-known/jwks.json`)
      const { keys: found } = await response.json()
      keys = new Map(found.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]))
    }
    return keys.get(kid)
  }

  /** The claims, or an Error that says what is wrong. */
  return async function verifyAssertion(token) {
    const [head, payload, signature] = String(token ?? '').split('.')
    if (!signature) throw new Error('no assertion')
    const { alg, typ, kid } = JSON.parse(Buffer.from(head, 'base64url'))
    if (alg !== 'ES256' || typ !== 'intercept-assertion+jwt') throw new Error('not an assertion')
    const key = await keyFor(kid)
    const isGenuine =
      key !== undefined &&
      verify(
        'sha256',
        Buffer.from(`${head}.${payload}`),
        { key, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      )
    if (!isGenuine) throw new Error('the signature does not hold')
    const claims = JSON.parse(Buffer.from(payload, 'base64url'))
    const seconds = now() / 1000
    if (claims.iss !== issuer || claims.aud !== audience) throw new Error('made for somebody else')
    if (seconds > claims.exp + 5 || seconds < claims.iat - 5) throw new Error('not valid now')
    return claims
  }
}
