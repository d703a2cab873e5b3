import { record } from '../audit/index.ts'
import type { OrganizationId, UserId } from '../ids.ts'
import {
  memberships,
  type Actor,
  type AuditDraft,
  type InvitationRecord,
  type Tx,
  type AuditVerb,
  type AuditAction,
} from '../store/index.ts'

/**
 * Writes an audit entry about a person in each organization they belong to; with `only`, in that organization alone.
 */
export async function recordForPerson(
  tx: Tx,
  { userId, only }: { readonly userId: UserId; readonly only?: string | undefined },
  entry: Pick<AuditDraft, 'actor' | 'action' | 'detail'>,
): Promise<void> {
  for (const { organization } of await memberships.listOfUser(tx, userId)) {
    if (only !== undefined && only !== organization.id) continue
    const subject = { kind: 'user', id: userId }
    record(tx, { ...entry, organizationId: organization.id, subject })
  }
}

/** Writes the audit entry of a change to an organization, and notifies every node. */
export function recordOrganization(
  tx: Tx,
  id: OrganizationId,
  change: {
    readonly actor: Actor
    readonly verb: AuditVerb<'organization.'>
    readonly detail: Readonly<Record<string, unknown>>
  },
): void {
  const { actor, verb, detail } = change
  record(tx, {
    ...{ organizationId: id, actor, detail },
    action: `organization.${verb}`,
    subject: { kind: 'organization', id },
  })
  tx.changed({ kind: 'organization', organizationId: id, subjectId: id })
}

export function recordInvitation(
  tx: Tx,
  { organizationId, id, email, role }: InvitationRecord,
  { actor, action }: { readonly actor: Actor; readonly action: AuditAction },
): void {
  const subject = { kind: 'invitation', id }
  record(tx, { organizationId, actor, action, subject, detail: { email, role } })
}
