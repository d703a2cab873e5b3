import { record } from '../audit/index.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import {
  accessTokens,
  invitations,
  type AccessTokenRecord,
  type Actor,
  type Tx,
} from '../store/index.ts'
import { publish } from '../webhooks/events/index.ts'

export function announceIssued(tx: Tx, token: AccessTokenRecord, actor: Actor): void {
  announce(tx, { change: 'issued', token, actor })
}

/** Publishes no event for the operator's tokens, because no organization could receive it. */
export function announceExpiring(tx: Tx, token: AccessTokenRecord): void {
  const { organizationId } = token
  if (organizationId === undefined) return
  publish(tx, { organizationId, type: 'access_token.expiring', data: dataOf(token) })
}

/** Revokes the tokens of a removed member; they stay revoked if the person returns. */
export async function endTokensOf(
  tx: Tx,
  member: { readonly organizationId: OrganizationId; readonly userId: UserId },
  actor: Actor,
): Promise<number> {
  const ended = await accessTokens.revokeBoundTo(tx, member, actor.id ?? actor.kind)
  await endTokens(tx, ended, actor)
  return ended.length
}

/** Announces that tokens were revoked, and revokes the open invitations that were made with them. */
export async function endTokens(
  tx: Tx,
  tokens: readonly AccessTokenRecord[],
  actor: Actor,
): Promise<void> {
  for (const token of tokens) announce(tx, { change: 'revoked', token, actor })
  const [first] = tokens
  if (first?.organizationId === undefined) return
  const { organizationId } = first
  const makers = tokens.map(({ id }) => id)
  for (const { id, email, role } of await invitations.revokeMadeByTokens(tx, {
    organizationId,
    makers,
  })) {
    record(tx, {
      organizationId,
      actor,
      action: 'invitation.revoked',
      subject: { kind: 'invitation', id },
      detail: { email, role },
    })
  }
}

function announce(
  tx: Tx,
  what: { change: 'issued' | 'revoked'; token: AccessTokenRecord; actor: Actor },
): void {
  const { change, token, actor } = what
  const { organizationId, id, name, hint, permissions } = token
  record(tx, {
    organizationId: organizationId ?? 'system',
    actor,
    action: `access_token.${change}`,
    subject: { kind: 'access_token', id },
    detail: { name, hint, permissions, expires_at: isoTime(token.expiresAt) },
  })
  if (organizationId !== undefined) {
    publish(tx, { organizationId, type: `access_token.${change}`, data: dataOf(token) })
  }
  tx.changed({
    kind: 'access_token',
    organizationId: organizationId ?? 'system',
    subjectId: id,
  })
}

function dataOf({ id, name, hint, expiresAt }: AccessTokenRecord) {
  return { token_id: id, name, hint, expires_at: isoTime(expiresAt) }
}

function isoTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}
