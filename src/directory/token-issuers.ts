import { permissionsNow } from '../access/index.ts'
import { isId, type OrganizationId } from '../ids.ts'
import type { Db, DirectoryTokenRecord } from '../store/index.ts'

/**
 * Returns the ids of active SCIM tokens whose issuers no longer have the permission to issue one. Such tokens keep
 * working, because a directory that stopped would leave every departing employee with access.
 */
export async function tokensOfLeavers(
  db: Db,
  organizationId: OrganizationId,
  { tokens, nowMs }: { readonly tokens: readonly DirectoryTokenRecord[]; readonly nowMs: number },
): Promise<ReadonlySet<string>> {
  const active = tokens.filter(({ revokedAt }) => revokedAt === undefined)
  const leavers = new Set<string>()
  for (const id of new Set(active.map(({ createdBy }) => createdBy))) {
    // A token without an issuer was created on the command line.
    if (id === undefined) continue
    const actor = { kind: isId('usr', id) ? 'user' : 'token', id } as const
    const held = await permissionsNow(db, organizationId, { actor, nowMs })
    if (!held.includes('sso.manage')) leavers.add(id)
  }
  const theirs = active.filter(({ createdBy }) => leavers.has(createdBy ?? ''))
  return new Set(theirs.map(({ id }) => id))
}
