import type { Generated } from 'kysely'
import type { AttemptTable } from './webhooks/attempts.ts'
import type { AuditExportTable } from './audit/audit-export.ts'
import type { AuditTable } from './audit/audit.ts'
import type { ConnectionTestTable } from './sso/connection-tests.ts'
import type { ConnectionTable } from './sso/connections.ts'
import type { DomainHolderTable, DomainTable } from './sso/domains.ts'
import type { CallBlockTable } from './calls/blocks/block-search.ts'
import type { CallTable } from './calls/record/call-columns.ts'
import type { DeliveryTable } from './webhooks/deliveries.ts'
import type { EndpointCountTable } from './webhooks/endpoint-counts.ts'
import type { EndpointTable } from './webhooks/endpoints.ts'
import type { DirectoryCountTable, DirectoryTable } from './directory/directory-counts.ts'
import type { DirectoryGroupTable } from './directory/directory-groups.ts'
import type { DirectoryMemberTable } from './directory/directory-members.ts'
import type { DirectoryRequestTable } from './directory/directory-requests.ts'
import type { AccessTokenTable } from './access-tokens/access-tokens.ts'
import type { DirectoryTokenTable } from './directory/directory-tokens.ts'
import type {
  DirectoryDepartedTable,
  DirectoryEmailTable,
  DirectoryUserTable,
} from './directory/directory-users.ts'
import type { DirectoryWalkTable } from './directory/directory-walks.ts'
import type { EventTable } from './webhooks/events.ts'
import type { ManagedCheckTable, ManagedTable } from './configuration/managed.ts'
import type { KeyStragglerTable } from './keys/key-callers.ts'
import type { KeySecretTable } from './keys/key-secrets.ts'
import type { KeyTable } from './keys/keys.ts'
import type { IdempotentAnswerTable } from './settings/idempotent-answers.ts'
import type { IdentityTable } from './people/identities.ts'
import type { InvitationTable } from './people/invitations.ts'
import type { MembershipTable } from './people/memberships.ts'
import type { DatabaseServerTable } from './nodes/database-server.ts'
import type { NodeTable } from './nodes/nodes.ts'
import type { OperationTable } from './settings/operations.ts'
import type { OrganizationHeadTable, OrganizationTable } from './organizations/organizations.ts'
import type { ProviderSessionTable } from './sessions/provider-sessions.ts'
import type { SessionTable } from './sessions/sessions.ts'
import type { SettingTable } from './settings/settings.ts'
import type { SignInLinkTable } from './people/sign-in-links.ts'
import type { SigningKeyTable } from './sessions/signing-keys.ts'
import type { RuleTable, TargetTable } from './targets/targets.ts'
import type { CallCountedTable, CallDayTable, CallQuarterTable } from './calls/call-counts.ts'
import type { CallMinuteTable, QuotaUseTable, RuleDayTable } from './calls/traffic.ts'
import type { RateNodeTable, RateShareTable } from './limits/rate-shares.ts'
import type { UsedOnceTable } from './settings/used-once.ts'
import type { UserTable } from './people/users.ts'
import type { WebhookSecretTable } from './webhooks/webhook-secrets.ts'

/** Every table, by name. */
export interface Tables {
  api_key: KeyTable
  attempt: AttemptTable
  audit_entry: AuditTable
  audit_export: AuditExportTable
  call: CallTable
  call_block: CallBlockTable
  call_other: CallTable
  call_counted: CallCountedTable
  call_day: CallDayTable
  call_minute: CallMinuteTable
  call_quarter: CallQuarterTable
  change: ChangeTable
  connection: ConnectionTable
  connection_test: ConnectionTestTable
  database_server: DatabaseServerTable
  domain: DomainTable
  domain_holder: DomainHolderTable
  delivery: DeliveryTable
  endpoint: EndpointTable
  endpoint_count: EndpointCountTable
  directory: DirectoryTable
  directory_count: DirectoryCountTable
  directory_departed: DirectoryDepartedTable
  directory_email: DirectoryEmailTable
  directory_group: DirectoryGroupTable
  directory_member: DirectoryMemberTable
  directory_request: DirectoryRequestTable
  access_token: AccessTokenTable
  directory_token: DirectoryTokenTable
  directory_user: DirectoryUserTable
  directory_walk: DirectoryWalkTable
  event: EventTable
  idempotent_answer: IdempotentAnswerTable
  identity: IdentityTable
  invitation: InvitationTable
  key_secret: KeySecretTable
  key_straggler: KeyStragglerTable
  managed: ManagedTable
  managed_check: ManagedCheckTable
  migration: { name: string; digest: string }
  membership: MembershipTable
  node: NodeTable
  operation: OperationTable
  organization: OrganizationTable
  organization_head: OrganizationHeadTable
  provider_session: ProviderSessionTable
  quota_use: QuotaUseTable
  rate_share: RateShareTable
  rate_node: RateNodeTable
  rule: RuleTable
  rule_day: RuleDayTable
  session: SessionTable
  setting: SettingTable
  sign_in_link: SignInLinkTable
  signing_key: SigningKeyTable
  target: TargetTable
  used_once: UsedOnceTable
  user: UserTable
  webhook_secret: WebhookSecretTable
}

interface ChangeTable {
  sequence: Generated<number>
  kind: string
  organization_id: string
  subject_id: string
  at: number
  token: string
}

// This is declared here and not in `db.ts`, to avoid a circular import: `Db` is typed by all tables, whose files import
// `Db`.
declare module '../db/db.ts' {
  interface KnownTables extends Tables {}
}
