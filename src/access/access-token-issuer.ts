import { Problem } from '../errors.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import { accessTokens, type Actor, type Tx } from '../store/index.ts'
import type { TokenMaker } from './access-token-input.ts'
import { heldPermissions } from './permissions/actor-permissions.ts'

/**
 * Returns what the issuer of a token can pass on (`maker`), and the member whose role limits the new token (`boundTo`;
 * undefined if there is none). Throws `credential_revoked` if the issuing token no longer permits anything.
 */
export async function issuerPower(
  tx: Tx,
  organization: { readonly id: OrganizationId } | undefined,
  actor: Actor,
): Promise<{ readonly maker: TokenMaker; readonly boundTo: UserId | undefined }> {
  const ownMaker = { organization, permissions: [], cidrs: undefined, expiresAt: undefined }
  if (organization === undefined) return { maker: ownMaker, boundTo: undefined }
  const permissions = await heldPermissions(tx, organization.id, actor)
  if (actor.kind !== 'token') {
    const boundTo = actor.kind === 'user' ? (actor.id as UserId) : undefined
    return { maker: { ...ownMaker, permissions }, boundTo }
  }
  const issuing = await accessTokens.findKnown(tx, organization.id, actor.id ?? '')
  // The issuing token may have been revoked after this request was authorized.
  if (!issuing || permissions.length === 0) {
    throw new Problem('credential_revoked', 'The access token was revoked.')
  }
  const { cidrs, expiresAt, creatorUserId: boundTo } = issuing.token
  return { maker: { organization, permissions, cidrs, expiresAt }, boundTo }
}
