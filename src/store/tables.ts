import type { Generated } from 'kysely'
import type { AuditTable } from './audit.ts'
import type { EventTable } from './events.ts'
import type { KeySecretTable } from './key-secrets.ts'
import type { KeyTable } from './keys.ts'
import type { NodeTable } from './nodes.ts'
import type { OrganizationHeadTable, OrganizationTable } from './organizations.ts'
import type { SettingTable } from './settings.ts'
import type { SigningKeyTable } from './signing-keys.ts'

/** Every table of the database; each is described by the file of its noun. */
export interface Tables {
  api_key: KeyTable
  audit_entry: AuditTable
  change: ChangeTable
  event: EventTable
  key_secret: KeySecretTable
  migration: { name: string; digest: string }
  node: NodeTable
  organization: OrganizationTable
  organization_head: OrganizationHeadTable
  setting: SettingTable
  signing_key: SigningKeyTable
}

interface ChangeTable {
  sequence: Generated<number>
  kind: string
  organization_id: string
  subject_id: string
  at: number
}
