import { signatureAlgorithms, verifyJws } from '../secrets/index.ts'
import type { SignatureAlgorithm } from '../secrets/index.ts'
import type { Provider } from './discovery.ts'
import { fault, faultOf, quoted } from './faults.ts'
import type { Check, Step } from './faults.ts'
import { parseObject } from './json.ts'
import type { JsonObject } from './json.ts'
import type { Keys } from './keys.ts'

/** A token whose signature was verified against the provider's published keys. */
export interface VerifiedToken {
  readonly claims: JsonObject
  readonly algorithm: SignatureAlgorithm
}

const maxLength = 64 * 1024

/**
 * Parses a signed token and verifies its signature with a key of the provider's key set; `jwk`, `jku`, `x5u` and `x5c`
 * in the header are ignored (RFC 8725, section 3.10).
 */
export async function verifyToken(
  token: string,
  expected: {
    step: Step
    types: readonly string[]
    provider: Pick<Provider, 'issuer' | 'keysAddress' | 'algorithms'>
    keys: Keys
    signal?: AbortSignal | undefined
  },
): Promise<VerifiedToken> {
  const { step, provider } = expected
  const { header, claims } = splitToken(token, step)
  refuseHeader(header, expected.types, step)
  const algorithm = algorithmOf(header, provider.algorithms, step)
  const kid = header['kid']
  if (kid !== undefined && typeof kid !== 'string')
    throw fault('header', step, 'Its kid is no text.')
  const wanted = { step, kid, algorithm, signal: expected.signal }

  const key = await expected.keys.find(provider, wanted, false)
  let verdict = await verifyJws(token, key, algorithm)
  if (verdict === 'invalid') {
    // The provider may have replaced the key under the same id.
    const again = await expected.keys.find(provider, wanted, true)
    if (again !== key) verdict = await verifyJws(token, again, algorithm)
  }
  if (verdict === 'unusable') throw fault('key_unusable', step)
  if (verdict === 'invalid') throw fault('signature', step)
  return { claims: readPart(claims, step, 'claims'), algorithm }
}

function splitToken(token: string, step: Step): { header: JsonObject; claims: string } {
  if (token.length > maxLength) throw fault('token_size', step)
  const parts = token.split('.')
  if (parts.length === 5) throw fault('token_encrypted', step)
  const [header, claims, signature] = parts
  if (
    parts.length !== 3 ||
    header === undefined ||
    claims === undefined ||
    signature === undefined
  ) {
    throw fault('token_shape', step)
  }
  if (!isBase64url(header) || !isBase64url(claims)) throw fault('token_shape', step)
  const readHeader = readPart(header, step, 'header')
  // A token with the algorithm `none` has an empty signature; it is refused later, because of its algorithm.
  if (signature === '' && signed(readHeader)) throw fault('signature', step)
  if (signature !== '' && !isBase64url(signature)) throw fault('token_shape', step)
  return { header: readHeader, claims }
}

function signed(header: JsonObject): boolean {
  return Object.hasOwn(signatureAlgorithms, String(header['alg']))
}

function refuseHeader(header: JsonObject, types: readonly string[], step: Step): void {
  if (header['crit'] !== undefined || header['b64'] !== undefined) throw fault('critical', step)
  if (header['enc'] !== undefined || header['zip'] !== undefined)
    throw fault('token_encrypted', step)
  const type = header['typ']
  if (type === undefined) return
  const name = typeof type === 'string' ? type.toLowerCase().replace(/^application\//, '') : ''
  if (!types.includes(name)) throw fault('type', step, `It is ${quoted(type)}.`)
}

function algorithmOf(
  header: JsonObject,
  accepted: readonly SignatureAlgorithm[],
  step: Step,
): SignatureAlgorithm {
  const found = accepted.find((algorithm) => algorithm === header['alg'])
  if (found === undefined) throw fault('algorithm', step, `It is ${quoted(header['alg'])}.`)
  return found
}

function readPart(part: string, step: Step, kind: 'header' | 'claims'): JsonObject {
  try {
    return parseObject(Buffer.from(part, 'base64url'), step)
  } catch (error) {
    const doubled = faultOf(error)?.check === 'json_duplicate'
    const check: Check = doubled ? 'claim_duplicate' : kind
    throw fault(check, step, { cause: error })
  }
}

function isBase64url(part: string): boolean {
  return (
    /^[A-Za-z0-9_-]+$/.test(part) && Buffer.from(part, 'base64url').toString('base64url') === part
  )
}
