import { Problem } from '../errors.ts'
import { organizations, type Db } from '../store/index.ts'

/** Throws `plan_required` unless the organization has the plan `enterprise`, and `not_found` if it does not exist. */
export async function requireEnterprise(db: Db, organizationId: string): Promise<void> {
  const found = await organizations.find(db, organizationId)
  if (!found) throw new Problem('not_found', 'There is no such organization.')
  if (found.plan !== 'enterprise') {
    throw new Problem(
      'plan_required',
      'Single sign-on and directories belong to the plan enterprise; the operator sets it.',
    )
  }
}
