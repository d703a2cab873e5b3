/** The state of a key as the dashboard, the API and the command line show it. */
type KeyState = 'active' | 'suspended' | 'expired' | 'revoked'

/** Returns the state that a key has at `nowMs`; if several states apply, the one that is hardest to undo. */
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
