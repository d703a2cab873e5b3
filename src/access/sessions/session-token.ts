import type { Clock } from '../../clock.ts'
import type { SessionId, UserId } from '../../ids.ts'
import { digest, randomToken, signToken, verifyToken } from '../../secrets/index.ts'
import type { SigningKeys } from './signing-keys.ts'

export type SessionFormat = 'jwt' | 'opaque'

/**
 * Mints and checks session tokens of one format; only the session's row says whether a genuine token is still valid.
 */
export interface SessionTokens {
  mint(session: { id: SessionId; userId: UserId; expiresAt: number }): Promise<string>
  /** Checks, without reading the database, whether a text may be one of our tokens, expired or not. */
  isGenuine(token: string): Promise<boolean>
}

interface TokenDeps {
  readonly format: SessionFormat
  readonly signingKeys: SigningKeys
  readonly clock: Clock
  /** The `iss` claim: the address of sign-in. */
  readonly issuer: string
  /** The `aud` claim: the base address. */
  readonly audience: string
}

// An explicit type keeps hand-over codes and assertions to upstreams from passing as sessions (RFC 8725, section 3.11).
const jwtType = 'session+jwt'
const opaqueShape = /^[A-Za-z0-9_-]{43}$/
const maxTokenLength = 3000

export function createSessionTokens(deps: TokenDeps): SessionTokens {
  return deps.format === 'jwt' ? jwtTokens(deps) : opaqueTokens()
}

/** Returns the digest by which a token's session is found in the database. */
export function tokenDigest(token: string): string {
  return digest(token)
}

function jwtTokens({ signingKeys, clock, issuer, audience }: TokenDeps): SessionTokens {
  return {
    mint: ({ id, userId, expiresAt }) =>
      signToken(signingKeys.signer(), jwtType, {
        iss: issuer,
        aud: audience,
        sub: userId,
        sid: id,
        iat: Math.floor(clock.now() / 1000),
        exp: Math.floor(expiresAt / 1000),
      }),
    async isGenuine(token) {
      if (token.length > maxTokenLength) return false
      // With nowMs 0 a token never expires here: the session's row decides, and once it is marked as ended, no clock
      // can revive the session.
      const publicJwkOf = (kid: string): string | undefined => signingKeys.publicJwkOf(kid)
      const expected = { typ: jwtType, issuer, audience, nowMs: 0 }
      return (await verifyToken(token, publicJwkOf, expected)) !== undefined
    },
  }
}

function opaqueTokens(): SessionTokens {
  return {
    mint: async () => randomToken(32),
    isGenuine: async (token) => opaqueShape.test(token),
  }
}
