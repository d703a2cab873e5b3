import type { SignedIn } from '../access/index.ts'
import type { MembershipRecord, OrganizationRecord } from '../store/index.ts'

/** `elsewhere`: the session was vouched for by another organization's provider. */
export type Reach = 'reached' | 'sso_required' | 'elsewhere'

export type Visitor = Pick<SignedIn, 'userId' | 'connectionId' | 'provider'>

/** Which organizations a session may reach; company sign-in decides it. */
export interface SessionReach {
  /**
   * Whether a session reaches an organization: a session that an organization's provider vouched for reaches that
   * organization alone, and where SSO is required nothing else does but a break-glass owner.
   */
  reachOf(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<Reach>
  /** The same as yes or no; `sso_required`. */
  reaches(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<boolean>
}
