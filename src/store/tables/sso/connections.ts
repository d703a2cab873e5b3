import type { Id, OrganizationId } from '../../../ids.ts'
import { columns, flag, json, maybe, number, text, time } from '../../db/columns.ts'
import type { RecordOf, TableOf } from '../../db/columns.ts'
import type { Db, Tx } from '../../db/db.ts'
import { ownRow, removeOwn } from '../../db/own-rows.ts'

export type ConnectionId = Id<'con'>

const declared = {
  id: text<ConnectionId>(),
  organizationId: text<OrganizationId>(),
  name: text(),
  kind: text(),
  issuer: text(),
  clientId: text(),
  credentialKind: text<'secret' | 'key'>(),
  credentialSealed: text(),
  publicJwk: maybe(text()),
  settings: json<Readonly<Record<string, unknown>>>(),
  isDefault: flag(),
  disabledAt: maybe(time()),
  createdAt: time(),
  /** When a test last succeeded. */
  testedAt: maybe(time()),
  lastUsedAt: maybe(time()),
  lastRefusal: maybe(json<Readonly<Record<string, unknown>>>()),
  /** Whether the connection was last saved by an owner or the operator rather than by an administrator. */
  setByOwner: flag(),
  version: number(),
}
const { fromRow, toRow } = columns(declared, {})

/** An organization's connection to an OpenID provider as stored; `src/sso` interprets the settings. */
export type ConnectionRecord = RecordOf<typeof declared>
export type ConnectionTable = TableOf<typeof declared>

/** The fields of a connection that are replaced each time somebody saves it. */
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

export async function insert(
  tx: Tx,
  connection: ConnectionDraft & Pick<ConnectionRecord, 'id' | 'organizationId' | 'isDefault'>,
): Promise<ConnectionRecord> {
  const row = await tx.query
    .insertInto('connection')
    .values({
      ...columnsOf(connection),
      ...toRow({
        id: connection.id,
        organizationId: connection.organizationId,
        isDefault: connection.isDefault,
        createdAt: tx.now,
        version: 1,
      }),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(row)
}

/** Finds a connection by its id, but never another organization's. */
export async function find(
  db: Db,
  organizationId: string,
  id: string,
): Promise<ConnectionRecord | undefined> {
  const row = await ownRow(db, 'connection', { organizationId, id })
  return row && fromRow(row)
}

/** Finds a connection by its id alone; its row says to which organization it belongs. */
export async function findForSignIn(db: Db, id: string): Promise<ConnectionRecord | undefined> {
  const row = await db.query
    .selectFrom('connection')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row && fromRow(row)
}

/** Lists up to 100 connections of an organization, oldest first. */
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
 * Locks a connection until the transaction ends, so that a sign-in that starts a session and a change that ends the
 * connection's sessions run one after the other. SQLite has one writer anyway.
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

/** Replaces the fields in `ConnectionDraft`; undefined if there is no such connection at that version. */
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

/**
 * Disables a connection from `disabledAt` on, or enables it if `disabledAt` is null; undefined if there is no such
 * connection.
 */
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

/**
 * Makes a connection the organization's default: people sign in through it unless their mail domain is routed to
 * another connection.
 */
export async function setDefault(tx: Tx, organizationId: string, id: string): Promise<void> {
  await tx.query
    .updateTable('connection')
    .set((eb) => ({
      is_default: eb.case().when('id', '=', id).then(1).else(0).end(),
    }))
    .where('organization_id', '=', organizationId)
    .execute()
}

/**
 * Deletes a connection with its tests; returns whether there was one. Its identities stay, but nobody can sign in with
 * them any more.
 */
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
  return await removeOwn(tx, 'connection', { organizationId, id })
}

/** Records how the last sign-in or test through a connection went; only a sign-in counts as use. */
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
  const { name, kind, issuer, clientId, settings, setByOwner } = draft
  const { credentialKind, credentialSealed, publicJwk } = draft
  return toRow({
    ...{ name, kind, issuer, clientId, settings, setByOwner },
    ...{ credentialKind, credentialSealed, publicJwk },
  })
}
