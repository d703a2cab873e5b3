import { permissionsNow } from '../access/index.ts'
import { isId, type OrganizationId } from '../ids.ts'
import type { Db, DirectoryTokenRecord } from '../store/index.ts'

/**
 * The ids of active SCIM tokens whose issuers could issue none any more: they left, were demoted, or their access token
 * ended. The directory goes on with them; a stopped one would keep everybody in who leaves the company.
 */
export async function tokensOfLeavers(
  db: Db,
  organizationId: OrganizationId,
  { tokens, nowMs }: { readonly tokens: readonly DirectoryTokenRecord[]; readonly nowMs: number },
): Promise<ReadonlySet<string>> {
  const active = tokens.filter(({ revokedAt }) => revokedAt === undefined)
  const leavers = new Set<string>()
  for (const id of new Set(active.map(({ createdBy }) => createdBy))) {
    // Without an issuer, the operator's command line made it.
    if (id === undefined) continue
    const actor = { kind: isId('usr', id) ? 'user' : 'token', id } as const
    const held = await permissionsNow(db, organizationId, { actor, nowMs })
    if (!held.includes('sso.manage')) leavers.add(id)
  }
  const theirs = active.filter(({ createdBy }) => leavers.has(createdBy ?? ''))
  return new Set(theirs.map(({ id }) => id))
}
