import type { Kysely } from 'kysely'
import type { EventId } from '../../ids.ts'
import type { Authenticator } from '../../secrets/index.ts'
import type { ChangeDraft } from './changes.ts'

/** Every table, as `tables.ts` fills them in. */
export interface KnownTables {}

export type Engine = 'sqlite' | 'postgres'

/** What the ledger is told of the installation. */
export type LedgerSettings = Pick<Db, 'maxEventBytes' | 'authenticator'>

/** Where statements run: the store for reads, a transaction for writes. */
export interface Db {
  readonly query: Kysely<KnownTables>
  readonly engine: Engine
  /** An event's bytes at most (LIMIT_WEBHOOK_BODY); 64 KiB. */
  readonly maxEventBytes?: number | undefined
  /** Vouches for the heads and anchors of audit chains; without it they carry no code. */
  readonly authenticator?: Authenticator | undefined
}

/** Who did something, as audit entries and events say it. */
export interface Actor {
  readonly kind: 'user' | 'operator' | 'directory' | 'key' | 'token' | 'system'
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
}

/** An audit entry before the ledger numbers and chains it. */
export interface AuditDraft {
  /** The organization, or 'system' for what concerns none. */
  readonly organizationId: string
  readonly actor: Actor
  /** noun.verb */
  readonly action: string
  readonly subject: { readonly kind: string; readonly id: string }
  /** What changed; never a secret. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** An event before the ledger numbers it and fixes its bytes. */
export interface EventDraft {
  readonly organizationId: string
  /** noun.verb, one of the catalogue's. */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  /** Made by the caller where it must know it; otherwise by the ledger. */
  readonly id?: EventId | undefined
  /** For a ping or a sample: only this endpoint gets it. */
  readonly onlyEndpointId?: string | undefined
}

/** The database that answers: another identity is another server or another copy; `startedAt` is its last start. */
export interface ServerMark {
  readonly identity: string
  readonly startedAt: string
}

/** A unit of work that commits as a whole; it also collects what the ledger writes just before the commit. */
export interface Tx extends Db {
  /** Milliseconds since 1970 at the transaction's start: one time for all it writes. */
  readonly now: number
  audit(draft: AuditDraft): void
  event(draft: EventDraft): void
  changed(draft: ChangeDraft): void
}

/** What a transaction has collected. */
export interface Collected {
  readonly audits: AuditDraft[]
  readonly events: EventDraft[]
  readonly changes: ChangeDraft[]
}

/** A transaction over a connection, with an empty collection. */
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
