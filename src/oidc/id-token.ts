import { halfHash } from '../secrets/index.ts'
import type { SignatureAlgorithm } from '../secrets/index.ts'
import { fault, quoted } from './faults.ts'
import type { Step } from './faults.ts'
import { isTextList } from './json.ts'
import type { JsonObject } from './json.ts'

/** What an id_token is checked against. */
export interface Expected {
  readonly issuer: string
  readonly clientId: string
  readonly nonce: string
  readonly accessToken: string
  readonly code: string
  /** The maximum number of seconds since authentication, if one was requested. */
  readonly maxAgeSeconds?: number | undefined
  readonly nowMs: number
}

// Clocks may differ by up to a minute. `iat` may be ten minutes old, because Entra sets it five minutes in the past.
const skewSeconds = 60
const maxAgeSeconds = 600
const maxSubjectLength = 255

/** Verifies an id_token's claims (OpenID Connect Core 1.0, section 3.1.3.7). */
export function checkIdToken(
  claims: JsonObject,
  algorithm: SignatureAlgorithm,
  expected: Expected,
): void {
  checkIssuerAndAudience(claims, expected, 'id_token')
  subjectOf(claims, 'id_token')
  checkTimes(claims, expected.nowMs, 'id_token')
  if (claims['nonce'] !== expected.nonce) throw fault('nonce', 'id_token')
  checkHash(claims['at_hash'], halfHash(algorithm, expected.accessToken), 'access_token_hash')
  checkHash(claims['c_hash'], halfHash(algorithm, expected.code), 'code_hash')
  checkAuthenticationTime(claims['auth_time'], expected)
}

/** Steps 2 to 5 of section 3.1.3.7: the issuer, the audience and the authorized party. */
export function checkIssuerAndAudience(
  claims: JsonObject,
  expected: { issuer: string; clientId: string },
  step: Step,
): void {
  if (claims['iss'] !== expected.issuer)
    throw fault('issuer', step, `It says ${quoted(claims['iss'])}.`)
  const { aud, azp } = claims
  const audience = typeof aud === 'string' ? [aud] : aud
  if (!isTextList(audience) || !audience.includes(expected.clientId)) throw fault('audience', step)
  const several = new Set(audience).size > 1
  if ((several || azp !== undefined) && azp !== expected.clientId) {
    throw fault('authorized_party', step)
  }
}

/** Checks `exp`, `iat` and `nbf`, which are in seconds, possibly fractional. */
export function checkTimes(claims: JsonObject, nowMs: number, step: Step): void {
  const now = nowMs / 1000
  const { exp, iat, nbf } = claims
  if (!isTime(exp)) throw fault('expiry', step)
  if (exp <= now - skewSeconds) throw fault('expiry', step, `It expired ${off(now, exp)} ago.`)
  checkIssuedAt(iat, nowMs, step)
  if (isTime(iat) && exp <= iat) throw fault('expiry', step, 'It expired before it was issued.')
  if (nbf === undefined) return
  if (!isTime(nbf)) throw fault('not_before', step)
  if (nbf > now + skewSeconds) throw fault('not_before', step, ahead(nbf, now))
}

function ahead(time: number, now: number): string {
  return `Its time is ${off(time, now)} ahead of our clock, and up to ${skewSeconds} s are allowed: compare the clocks of the provider and of Intercept.`
}

function off(later: number, earlier: number): string {
  return `${Math.round(later - earlier)} s`
}

/** Checks that `iat` lies within the last ten minutes, give or take a minute of clock skew. */
export function checkIssuedAt(iat: unknown, nowMs: number, step: Step): void {
  const now = nowMs / 1000
  if (!isTime(iat)) throw fault('issued_at', step)
  if (iat > now + skewSeconds) throw fault('issued_at', step, ahead(iat, now))
  if (iat < now - maxAgeSeconds - skewSeconds) {
    throw fault('issued_at', step, `By our clock that was ${off(now, iat)} ago.`)
  }
}

/**
 * Returns the subject; throws unless it is 1 to 255 printable ASCII characters (section 2) without a space at either
 * end.
 */
export function subjectOf(claims: JsonObject, step: Step): string {
  const { sub } = claims
  if (
    typeof sub !== 'string' ||
    sub.length > maxSubjectLength ||
    !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(sub)
  ) {
    throw fault('subject', step)
  }
  return sub
}

function checkHash(
  hash: unknown,
  expected: string,
  check: 'access_token_hash' | 'code_hash',
): void {
  // Both hashes are optional in the code flow (OpenID Connect Core, section 3.1.3.8). One that the provider sends must
  // match.
  if (hash !== undefined && hash !== expected) throw fault(check, 'id_token')
}

function checkAuthenticationTime(time: unknown, expected: Expected): void {
  const limit = expected.maxAgeSeconds
  if (time === undefined && limit === undefined) return
  const now = expected.nowMs / 1000
  const proven = isTime(time) && time <= now + skewSeconds
  if (!proven || (limit !== undefined && time < now - limit - skewSeconds)) {
    throw fault('authentication_time', 'id_token')
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
