import type { SignedIn } from '../access/index.ts'
import type { MembershipRecord, OrganizationRecord } from '../store/index.ts'

/** `elsewhere`: the session began through a connection that this organization does not have enabled. */
export type Reach = 'reached' | 'sso_required' | 'elsewhere'

/** The properties of a session that determine which organizations it reaches. */
export type Visitor = Pick<SignedIn, 'userId' | 'connectionId' | 'provider'>

/** Decides in which organizations a session is valid, according to company sign-in. */
export interface SessionReach {
  /** A session through an organization's provider reaches no other organization. */
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
