/** All SQL of the program is in this folder: one set of functions that works on both SQLite and PostgreSQL. */

export * as auditSeals from './tables/audit/seals.ts'
export * as attempts from './tables/webhooks/attempts.ts'
export * as auditExport from './tables/audit/audit-export.ts'
export * as auditEntries from './tables/audit/audit.ts'
export { countSignIns, type SignInRange } from './tables/audit/sign-ins.ts'
export { subjectNames } from './tables/audit/subject-names.ts'
export * as connectionTests from './tables/sso/connection-tests.ts'
export * as connections from './tables/sso/connections.ts'
export * as domains from './tables/sso/domains.ts'
export * as callCounts from './tables/calls/call-counts.ts'
export * as callCondition from './tables/calls/record/call-condition.ts'
export * as callPartitions from './tables/calls/call-partitions.ts'
export * as calls from './tables/calls/calls.ts'
export * as callSearch from './tables/calls/call-search.ts'
export * as callTimes from './tables/calls/call-times.ts'
export * as deliveries from './tables/webhooks/deliveries.ts'
export { deliveryTimes, type DeliveryTimes } from './tables/webhooks/deliveries.ts'
export * as deliveryQueue from './tables/webhooks/queue.ts'
export * as deliveryWork from './tables/webhooks/delivery-work.ts'
export * as databaseServer from './tables/nodes/database-server.ts'
export * as nodes from './tables/nodes/nodes.ts'
export * as endpointCounts from './tables/webhooks/endpoint-counts.ts'
export * as endpointLeases from './tables/webhooks/endpoint-leases.ts'
export * as endpoints from './tables/webhooks/endpoints.ts'
export * as events from './tables/webhooks/events.ts'
export * as directoryCounts from './tables/directory/directory-counts.ts'
export * as directoryGroups from './tables/directory/directory-groups.ts'
export * as directoryDuplicates from './tables/directory/directory-duplicates.ts'
export * as directoryLists from './tables/directory/directory-lists.ts'
export * as directoryMembers from './tables/directory/directory-members.ts'
export * as directoryNewcomers from './tables/directory/directory-newcomers.ts'
export * as directoryRequests from './tables/directory/directory-requests.ts'
export * as accessTokens from './tables/access-tokens/access-tokens.ts'
export * as directoryTokens from './tables/directory/directory-tokens.ts'
export * as directoryUsers from './tables/directory/directory-users.ts'
export * as directoryWalks from './tables/directory/directory-walks.ts'
export * as keyCallers from './tables/keys/key-callers.ts'
export * as keyLookUp from './tables/keys/key-look-up.ts'
export type { KeySharedPart } from './tables/keys/key-look-up.ts'
export * as keyNames from './tables/keys/key-names.ts'
export * as keySecrets from './tables/keys/key-secrets.ts'
export * as idempotentAnswers from './tables/settings/idempotent-answers.ts'
export * as identities from './tables/people/identities.ts'
export * as invitations from './tables/people/invitations.ts'
export * as keys from './tables/keys/keys.ts'
export * as managed from './tables/configuration/managed.ts'
export * as memberships from './tables/people/memberships.ts'
export * as operations from './tables/settings/operations.ts'
export { limitLocks } from './db/brief-locks.ts'
export * as organizationHeads from './tables/organizations/heads.ts'
export * as organizations from './tables/organizations/organizations.ts'
export * as providerSessions from './tables/sessions/provider-sessions.ts'
export * as sessions from './tables/sessions/sessions.ts'
export * as settings from './tables/settings/settings.ts'
export * as signInLinks from './tables/people/sign-in-links.ts'
export * as signingKeys from './tables/sessions/signing-keys.ts'
export * as targets from './tables/targets/targets.ts'
export * as rateShares from './tables/limits/rate-shares.ts'
export * as oldCounts from './tables/calls/old-counts.ts'
export type { CountsBySubject } from './tables/calls/old-counts.ts'
export * as traffic from './tables/calls/traffic.ts'
export * as sealed from './tables/settings/sealed.ts'
export type { SealedColumn } from './tables/settings/sealed.ts'
export * as usedOnce from './tables/settings/used-once.ts'
export * as users from './tables/people/users.ts'
export { isInUse } from './in-use.ts'
export { probe, probeLockWaits } from './engine/probe.ts'
export { snakeCased, snakeName } from './db/snake-case.ts'
export { restoreBackup } from './engine/restore.ts'
export * as webhookSecrets from './tables/webhooks/webhook-secrets.ts'
export { auditContentColumns, auditHash, UnknownOrganization } from './engine/ledger.ts'
export {
  asStorageProblem,
  changedNothing,
  isKeptOut,
  isLockWaitTooLong,
  isRefusedForGood,
  isWaitTooLong,
} from './engine/unavailable.ts'
export type { Confirmation } from './feed/confirmation.ts'
export { auditActions, type AuditAction, type AuditVerb } from './db/audit-actions.ts'
export type { Actor, AuditDraft, Db, Engine, EventDraft, Tx } from './db/db.ts'
export type { ConnectionTestRecord } from './tables/sso/connection-tests.ts'
export type { ConnectionId, ConnectionRecord } from './tables/sso/connections.ts'
export type { DomainRecord } from './tables/sso/domains.ts'
export type { ManagedRecord } from './tables/configuration/managed.ts'
export {
  createCallRowsBuffer,
  halvesOf,
  noCallRows,
  rowsOf,
  type CallRows,
  type CallRowsBuffer,
} from './tables/calls/call-rows.ts'
export { countRows, type CountRows } from './tables/calls/count-rows.ts'
export { latencyBuckets, latencyBucketOf, percentileOf } from './tables/calls/latency-buckets.ts'
export type { CallRecord } from './tables/calls/record/call-record.ts'
export {
  recordedPrefix,
  type CallFilter,
  type CallOutcome,
} from './tables/calls/record/call-filter.ts'
export type { Percentiles, TimedPart } from './tables/calls/record/timed-range.ts'
export type { AttemptRecord } from './tables/webhooks/attempts.ts'
export type { DeliveryFilter, DeliveryRecord, DeliveryState } from './tables/webhooks/deliveries.ts'
export type { AttemptOutcome, DueDelivery } from './tables/webhooks/delivery-work.ts'
export type { EndpointBooks } from './tables/webhooks/endpoint-counts.ts'
export type { Lease, Release } from './tables/webhooks/endpoint-leases.ts'
export type { EndpointRecord, EndpointSettings } from './tables/webhooks/endpoints.ts'
export type { EventRecord } from './tables/webhooks/events.ts'
export type { DirectoryCondition, DirectoryField } from './tables/directory/directory-conditions.ts'
export type {
  DirectoryGroupData,
  DirectoryGroupRecord,
  GroupRole,
} from './tables/directory/directory-groups.ts'
export type { DirectoryPlace, DirectoryQuery } from './tables/directory/directory-lists.ts'
export type { GroupOfUser } from './tables/directory/directory-members.ts'
export type { DirectoryRequestRecord } from './tables/directory/directory-requests.ts'
export type {
  AccessTokenId,
  AccessTokenRecord,
  KnownAccessToken,
} from './tables/access-tokens/access-tokens.ts'
export { type CacheMemory } from './feed/cache-memory.ts'
export { FeedCache, FollowingCache } from './feed/feed-cache.ts'
export type { DirectoryTokenRecord, KnownToken } from './tables/directory/directory-tokens.ts'
export type {
  DirectoryUserData,
  DirectoryUserRecord,
  InStep,
} from './tables/directory/directory-users.ts'
export type { Feed, HistoryChange } from './feed/feed.ts'
export type { KeySecretRecord, KeyUse } from './tables/keys/key-secrets.ts'
export type {
  Grant,
  KeyEdit,
  KeyInput,
  KeyRecord,
  LabelFilter,
  Labels,
  Quota,
  Scheme,
} from './tables/keys/keys.ts'
export type { AwaitsOwner, IdentityKey, IdentityRecord } from './tables/people/identities.ts'
export type { InvitationRecord } from './tables/people/invitations.ts'
export type {
  MemberRecord,
  MembershipRecord,
  MembershipRole,
  MembershipSource,
} from './tables/people/memberships.ts'
export type { RuleRecord, TargetRecord } from './tables/targets/targets.ts'
export type { SessionRecord, SessionWithUser } from './tables/sessions/sessions.ts'
export type { UserRecord } from './tables/people/users.ts'
export type { OperationRecord, OperationState } from './tables/settings/operations.ts'
export type { OrganizationRecord, Plan } from './tables/organizations/organizations.ts'
export { openStore } from './open.ts'
export { storeWithin, type Store } from './store.ts'
