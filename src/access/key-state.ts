/** What becomes of a key, as pages, the API and the command line say it. */
type KeyState = 'active' | 'suspended' | 'expired' | 'revoked'

/** The state of a key at a moment; what can't be undone outweighs what can. */
export function keyStateAt(
  key: {
    readonly revokedAt: number | undefined
    readonly expiresAt: number | undefined
    readonly suspendedAt: number | undefined
  },
  nowMs: number,
): KeyState {
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt !== undefined && key.expiresAt <= nowMs) return 'expired'
  return key.suspendedAt === undefined ? 'active' : 'suspended'
}
