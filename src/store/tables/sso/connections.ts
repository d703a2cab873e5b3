import type { Id, OrganizationId } from '../../../ids.ts'
import type { Db, Tx } from '../../db/db.ts'

export interface ConnectionTable {
  id: string
  organization_id: string
  name: string
  kind: string
  issuer: string
  client_id: string
  credential_kind: string
  credential_sealed: string
  public_jwk: string | null
  settings: string
  is_default: number
  disabled_at: number | null
  created_at: number
  tested_at: number | null
  last_used_at: number | null
  last_refusal: string | null
  set_by_owner: number
  version: number
}

export type ConnectionId = Id<'con'>

/** An organization's OpenID provider as stored; its rules know what the settings mean. */
export interface ConnectionRecord {
  readonly id: ConnectionId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly kind: string
  readonly issuer: string
  readonly clientId: string
  readonly credentialKind: 'secret' | 'key'
  readonly credentialSealed: string
  readonly publicJwk: string | undefined
  readonly settings: Readonly<Record<string, unknown>>
  readonly isDefault: boolean
  readonly disabledAt: number | undefined
  readonly createdAt: number
  /** When a test last passed. */
  readonly testedAt: number | undefined
  readonly lastUsedAt: number | undefined
  readonly lastRefusal: Readonly<Record<string, unknown>> | undefined
  /** An owner or the operator saved it last, not an administrator. */
  readonly setByOwner: boolean
  readonly version: number
}

/** What a person decides about a connection. */
export type ConnectionDraft = Pick<
  ConnectionRecord,
  | 'name'
  | 'kind'
  | 'issuer'
  | 'clientId'
  | 'credentialKind'
  | 'credentialSealed'
  | 'publicJwk'
  | 'settings'
  | 'setByOwner'
>

/** Adds a connection. */
export async function insert(
  tx: Tx,
  connection: ConnectionDraft & Pick<ConnectionRecord, 'id' | 'organizationId' | 'isDefault'>,
): Promise<ConnectionRecord> {
  const row = await tx.query
    .insertInto('connection')
    .values({
      id: connection.id,
      organization_id: connection.organizationId,
      ...columnsOf(connection),
      is_default: connection.isDefault ? 1 : 0,
      disabled_at: null,
      created_at: tx.now,
      tested_at: null,
      last_used_at: null,
      last_refusal: null,
      version: 1,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** The connection with this id in this organization. */
export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<ConnectionRecord | undefined> {
  const row = await db.query
    .selectFrom('connection')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** The connection that a sign-in address names; the row says which organization's it is. */
export async function findForSignIn(db: Db, id: string): Promise<ConnectionRecord | undefined> {
  const row = await db.query
    .selectFrom('connection')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** An organization's connections, oldest first. */
export async function list(db: Db, organizationId: string): Promise<ConnectionRecord[]> {
  const rows = await db.query
    .selectFrom('connection')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(100)
    .execute()
  return rows.map(fromRow)
}

/**
 * Keeps a connection as it is until the transaction's end: a sign-in that starts its session and a change that ends the
 * connection's sessions come one after the other. SQLite has one writer anyway.
 */
export async function lock(tx: Tx, organizationId: string, id: string): Promise<void> {
  if (tx.engine === 'sqlite') return
  await tx.query
    .selectFrom('connection')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .execute()
}

/** Changes what a person decides; undefined if there is no such connection at that version. */
export async function update(
  tx: Tx,
  {
    organizationId,
    id,
    change,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly change: ConnectionDraft & { expectedVersion: number }
  },
): Promise<ConnectionRecord | undefined> {
  const row = await tx.query
    .updateTable('connection')
    .set((eb) => ({ ...columnsOf(change), version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('version', '=', change.expectedVersion)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Disables (a time) or enables (null) a connection. */
export async function setDisabled(
  tx: Tx,
  {
    organizationId,
    id,
    disabledAt,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly disabledAt: number | null
  },
): Promise<ConnectionRecord | undefined> {
  const row = await tx.query
    .updateTable('connection')
    .set((eb) => ({ disabled_at: disabledAt, version: eb('version', '+', 1) }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Makes one connection the one that an organization's people are sent to. */
export async function setDefault(tx: Tx, organizationId: string, id: string): Promise<void> {
  await tx.query
    .updateTable('connection')
    .set((eb) => ({
      is_default: eb.case().when('id', '=', id).then(1).else(0).end(),
    }))
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Deletes a connection with its tests; identities stay, but nobody can use them any more. */
export async function remove(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  await tx.query
    .updateTable('domain')
    .set({ connection_id: null })
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', id)
    .execute()
  await tx.query
    .deleteFrom('connection_test')
    .where('organization_id', '=', organizationId)
    .where('connection_id', '=', id)
    .execute()
  const result = await tx.query
    .deleteFrom('connection')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Notes how the last sign-in or test through a connection went; only a sign-in counts as use. */
export async function noteOutcome(
  tx: Tx,
  {
    organizationId,
    id,
    outcome,
  }: {
    readonly organizationId: string
    readonly id: string
    readonly outcome:
      | 'signed-in'
      | 'tested'
      | { readonly refusal: Readonly<Record<string, unknown>> }
  },
): Promise<void> {
  await tx.query
    .updateTable('connection')
    .set(
      outcome === 'signed-in'
        ? { last_used_at: tx.now, last_refusal: null }
        : outcome === 'tested'
          ? { tested_at: tx.now, last_refusal: null }
          : { last_refusal: JSON.stringify(outcome.refusal) },
    )
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute()
}

function columnsOf(draft: ConnectionDraft) {
  return {
    name: draft.name,
    kind: draft.kind,
    issuer: draft.issuer,
    client_id: draft.clientId,
    credential_kind: draft.credentialKind,
    credential_sealed: draft.credentialSealed,
    public_jwk: draft.publicJwk ?? null,
    settings: JSON.stringify(draft.settings),
    set_by_owner: draft.setByOwner ? 1 : 0,
  }
}

function fromRow(row: ConnectionTable): ConnectionRecord {
  return {
    id: row.id as ConnectionId,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    kind: row.kind,
    issuer: row.issuer,
    clientId: row.client_id,
    credentialKind: row.credential_kind as 'secret' | 'key',
    credentialSealed: row.credential_sealed,
    publicJwk: row.public_jwk ?? undefined,
    settings: JSON.parse(row.settings) as Record<string, unknown>,
    isDefault: row.is_default === 1,
    disabledAt: row.disabled_at ?? undefined,
    createdAt: row.created_at,
    testedAt: row.tested_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
    lastRefusal:
      row.last_refusal === null
        ? undefined
        : (JSON.parse(row.last_refusal) as Record<string, unknown>),
    setByOwner: row.set_by_owner === 1,
    version: row.version,
  }
}
