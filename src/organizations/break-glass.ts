import { Problem } from '../errors.ts'
import type { UserId } from '../ids.ts'
import {
  organizations,
  type MembershipRecord,
  type OrganizationRecord,
  type Tx,
} from '../store/index.ts'
import { isActiveOwner } from './owners.ts'

/** Whether an organization requires its company sign-in, and which owners may sign in without it in an emergency. */
export interface SsoPolicy {
  readonly required: boolean
  readonly breakGlass: readonly UserId[]
}

/** Reads the policy from an organization's settings; by default company sign-in is not required. */
export function policyOf(organization: OrganizationRecord): SsoPolicy {
  const stored = organization.settings['sso'] as Partial<SsoPolicy> | undefined
  return { required: stored?.required ?? false, breakGlass: stored?.breakGlass ?? [] }
}

/** Throws `break_glass_missing` if this is the last active break-glass owner while company sign-in is required. */
export async function requireAnotherBreakGlassOwner(
  tx: Tx,
  leaving: Pick<MembershipRecord, 'organizationId' | 'userId'>,
): Promise<void> {
  // Locks the organization, because another transaction may be naming this owner in the policy.
  const found = await organizations.find(tx, leaving.organizationId, true)
  const policy = found && policyOf(found)
  if (!policy?.required || !policy.breakGlass.includes(leaving.userId)) return
  const left = policy.breakGlass.filter((userId) => userId !== leaving.userId)
  for (const userId of left) {
    if (await isActiveOwner(tx, leaving.organizationId, userId)) return
  }
  throw new Problem(
    'break_glass_missing',
    'This is the last owner for emergencies while the company sign-in is required. Name another one first.',
  )
}
