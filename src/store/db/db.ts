import type { AuditAction } from './audit-actions.ts'
import type { Kysely } from 'kysely'
import type { EventId } from '../../ids.ts'
import type { Authenticator } from '../../secrets/index.ts'
import type { ChangeDraft } from './changes.ts'

/** Every table; `tables/index.ts` fills this in by declaration merging. */
export interface KnownTables {}

export type Engine = 'sqlite' | 'postgres'

/** The settings that the ledger needs to write events and audit entries. */
export type LedgerSettings = Pick<Db, 'maxEventBytes' | 'authenticator'>

/** Where statements run: the store itself for reads, a transaction for writes. */
export interface Db {
  readonly query: Kysely<KnownTables>
  readonly engine: Engine
  /** Maximum size of an event in bytes (LIMIT_WEBHOOK_BODY); defaults to 64 KiB. */
  readonly maxEventBytes?: number | undefined
  /** Computes the MACs of the heads and anchors of audit chains; without an authenticator, they have no MACs. */
  readonly authenticator?: Authenticator | undefined
}

/** The author of an action, as recorded in audit entries and events. */
export interface Actor {
  readonly kind: 'user' | 'operator' | 'directory' | 'key' | 'token' | 'system'
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

/** An audit entry before the ledger numbers and chains it. */
export interface AuditDraft {
  /** The organization, or 'system' for entries that belong to none. */
  readonly organizationId: string
  readonly actor: Actor
  readonly action: AuditAction
  readonly subject: { readonly kind: string; readonly id: string }
  /** Never contains a secret. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** An event before the ledger numbers and serializes it. */
export interface EventDraft {
  readonly organizationId: string
  /** An event type from the catalogue, such as `api_key.issued`. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  /** Set by a caller that needs to know the id in advance. */
  readonly id?: EventId | undefined
  /** For a ping or a sample event: only this endpoint receives it. */
  readonly onlyEndpointId?: string | undefined
}

/**
 * Identifies the database server that responded. Another `identity` means another server or another copy of the
 * database; `startedAt` is when the server last started.
 */
export interface ServerMark {
  readonly identity: string
  readonly startedAt: string
}

/** A unit of work that commits as a whole; it also collects what the ledger writes just before the commit. */
export interface Tx extends Db {
  /** When the transaction started, in milliseconds since 1970. */
  readonly now: number
  audit(draft: AuditDraft): void
  event(draft: EventDraft): void
  changed(draft: ChangeDraft): void
}

/** Everything a transaction has collected for the ledger. */
export interface Collected {
  readonly audits: AuditDraft[]
  readonly events: EventDraft[]
  readonly changes: ChangeDraft[]
}

export function createTransaction(
  connection: Db,
  now: number,
): { transaction: Tx; collected: Collected } {
  const collected: Collected = { audits: [], events: [], changes: [] }
  return {
    collected,
    transaction: {
      ...connection,
      now,
      audit: (draft) => void collected.audits.push(draft),
      event: (draft) => void collected.events.push(draft),
      changed: (draft) => void collected.changes.push(draft),
    },
  }
}
