import type { ProblemCode } from '../errors.ts'
import type { KnownKey } from './key-memory/index.ts'

/** Why a key is refused, whatever call it is used for. */
export interface KeyFault {
  readonly code: ProblemCode
  readonly sentence: string
}

const revoked: KeyFault = { code: 'credential_revoked', sentence: 'The API key was revoked.' }
const expired: KeyFault = { code: 'credential_expired', sentence: 'The API key has expired.' }

/** Returns why a key no longer works; undefined if it still works. */
export function keyFault(
  { shape, expiresAt }: KnownKey,
  clock: { now(): number },
): KeyFault | undefined {
  if (shape.isRevoked) return revoked
  return expiresAt !== undefined && expiresAt <= clock.now() ? expired : undefined
}
