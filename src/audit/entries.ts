import { auditEntries, auditHash, type Store } from '../store/index.ts'

/** An entry as people read it. */
export interface AuditEntry {
  readonly id: string
  readonly sequence: number
  readonly at: number
  readonly actor: {
    readonly kind: string
    readonly id: string | undefined
    readonly name: string | undefined
  }
  readonly action: string
  readonly subject: { readonly kind: string; readonly id: string }
  readonly detail: Readonly<Record<string, unknown>>
  readonly address: string | undefined
  readonly requestId: string | undefined
  readonly hash: string
}

/** What of a log is asked for; times in milliseconds since 1970. */
export interface AuditFilter {
  readonly action?: string | undefined
  readonly actorId?: string | undefined
  readonly subjectId?: string | undefined
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** What a check of a chain found. */
export interface ChainReport {
  readonly entries: number
  /** The first entry that does not follow from the one before it, and what is wrong with it. */
  readonly brokenAt: number | undefined
  readonly reason: string | undefined
  readonly lastHash: string
}

/** The audit log of an organization, or of 'system'. */
export interface Audit {
  /** Newest first, before a sequence. */
  list(
    organizationId: string,
    page: AuditFilter & { before?: number | undefined; limit: number },
  ): Promise<AuditEntry[]>
  /** Every entry that a filter leaves, oldest first, in pages. */
  all(organizationId: string, filter: AuditFilter): AsyncIterable<AuditEntry>
  /** Recomputes the chain: a changed, removed or reordered entry shows. */
  verify(organizationId: string): Promise<ChainReport>
  /** Deletes entries older than a time, from the front of each chain; returns how many. */
  forget(before: number): Promise<number>
}

const pageSize = 250

/** Opens the audit log. */
export function createAudit(needs: { store: Store }): Audit {
  const { store } = needs

  return {
    async list(organizationId, page) {
      return (await auditEntries.list(store.aside, organizationId, page)).map(toEntry)
    },
    async *all(organizationId, filter) {
      for (let next = 1; ;) {
        const rows = await auditEntries.listFrom(store.aside, organizationId, next, pageSize)
        for (const row of rows) {
          if (matches(row, filter)) yield toEntry(row)
        }
        const last = rows.at(-1)
        if (rows.length < pageSize || !last) return
        next = last.sequence + 1
      }
    },
    async verify(organizationId) {
      const head = await auditEntries.headOf(store.aside, organizationId)
      const anchor = await auditEntries.anchorOf(store.aside, organizationId)
      let previous = anchor.hash
      let entries = 0
      let expected = anchor.sequence + 1
      const broken = (sequence: number, reason: string): ChainReport => ({
        entries,
        brokenAt: sequence,
        reason,
        lastHash: previous,
      })
      for (let next = 1; ;) {
        const rows = await auditEntries.listFrom(store.aside, organizationId, next, pageSize)
        for (const row of rows) {
          if (row.sequence > head.sequence) break
          if (row.sequence !== expected) return broken(expected, 'an entry is missing')
          if (row.previous_hash !== previous) {
            return broken(row.sequence, 'it does not follow the entry before it')
          }
          if (auditHash(row) !== row.hash) return broken(row.sequence, 'it was changed')
          previous = row.hash
          expected = row.sequence + 1
          entries += 1
        }
        const last = rows.at(-1)
        if (rows.length < pageSize || !last) break
        next = last.sequence + 1
      }
      if (expected !== head.sequence + 1) {
        return broken(expected, 'entries at the end are missing')
      }
      if (previous !== head.hash) {
        return broken(head.sequence, 'the last entry is not the one that was written last')
      }
      return { entries, brokenAt: undefined, reason: undefined, lastHash: previous }
    },
    forget: async (before) =>
      await store.transaction(async (tx) => await auditEntries.forget(tx, before)),
  }
}

type Row = Awaited<ReturnType<typeof auditEntries.listFrom>>[number]

function matches(row: Row, filter: AuditFilter): boolean {
  return (
    (filter.action === undefined || row.action === filter.action) &&
    (filter.actorId === undefined || row.actor_id === filter.actorId) &&
    (filter.subjectId === undefined || row.subject_id === filter.subjectId) &&
    (filter.from === undefined || row.at >= filter.from) &&
    (filter.until === undefined || row.at < filter.until)
  )
}

function toEntry(row: Row): AuditEntry {
  return {
    id: row.id,
    sequence: row.sequence,
    at: row.at,
    actor: {
      kind: row.actor_kind,
      id: row.actor_id ?? undefined,
      name: row.actor_name ?? undefined,
    },
    action: row.action,
    subject: { kind: row.subject_kind, id: row.subject_id },
    detail: JSON.parse(row.detail) as Record<string, unknown>,
    address: row.address ?? undefined,
    requestId: row.request_id ?? undefined,
    hash: row.hash,
  }
}
