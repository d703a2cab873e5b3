import type { SignedIn } from '../access/index.ts'
import type { MembershipRecord, OrganizationRecord } from '../store/index.ts'

/** `elsewhere`: the session began through another organization's connection, or through a disabled one. */
export type Reach = 'reached' | 'sso_required' | 'elsewhere'

/** The properties of a session that determine which organizations it reaches. */
export type Visitor = Pick<SignedIn, 'userId' | 'connectionId' | 'provider'>

/** Decides in which organizations a session is valid, according to company sign-in. */
export interface SessionReach {
  /**
   * Whether a session reaches an organization. A session that an organization's provider vouched for reaches that
   * organization alone. An enterprise organization that requires SSO is reached only by such sessions, by those of its
   * break-glass owners, and by those that began with a setup or sign-in link that the operator printed.
   */
  reachOf(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<Reach>
  /** Like `reachOf`, but returns a boolean, and throws `sso_required` instead of returning it. */
  reaches(
    person: Visitor,
    organization: OrganizationRecord,
    membership: Pick<MembershipRecord, 'role'>,
  ): Promise<boolean>
}
