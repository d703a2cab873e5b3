import {
  auditEntries,
  countSignIns,
  subjectNames,
  type SignInRange,
  type Store,
} from '../store/index.ts'
import type { OrganizationId } from '../ids.ts'
import { announceHeads } from './announce-heads.ts'
import { forgetEntries } from './forget.ts'
import { signedHead, verifyChain, type ChainReport, type SignedHead } from './chain.ts'

/** An audit entry as people read it. */
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

/** The numbers of sign-ins in one time step. */
export interface SignIns {
  /** Milliseconds since 1970 at which the step began. */
  readonly at: number
  /** Through the organization's own identity provider. */
  readonly company: number
  /** In any other way. */
  readonly other: number
  /** Attempts through the organization's provider that failed or were refused. */
  readonly refused: number
}

/** Selects audit entries; times are milliseconds since 1970. */
export interface AuditFilter {
  readonly action?: string | undefined
  readonly actorId?: string | undefined
  readonly subjectId?: string | undefined
  /**
   * A text that occurs, regardless of case, in the action, the actor's name, the subject's id, the request's id, the
   * address or the detail.
   */
  readonly search?: string | undefined
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** The audit log of an organization, or of 'system' for what concerns no organization. */
export interface Audit {
  /** Lists entries before a sequence number, newest first. */
  list(
    organizationId: string,
    page: AuditFilter & { before?: number | undefined; limit: number },
  ): Promise<AuditEntry[]>
  /** Returns the current names of entries' subjects, by id; subjects without a name are left out. */
  names(
    organizationId: string,
    entries: readonly AuditEntry[],
  ): Promise<ReadonlyMap<string, string>>
  /** Yields all entries that match a filter, oldest first, page by page. */
  pages(organizationId: string, filter: AuditFilter): AsyncIterable<readonly AuditEntry[]>
  /**
   * Recomputes the chain, which reveals any changed, added, removed or reordered entry, and a chain rolled back to
   * before `against`.
   */
  verify(organizationId: string, against?: SignedHead): Promise<ChainReport>
  head(organizationId: string): Promise<SignedHead>
  /** Returns the ids of all chains, including the one that belongs to no organization. */
  chains(): Promise<readonly string[]>
  /**
   * Publishes the signed heads of organizations' chains as events, each at most once a day and only if entries were
   * added; returns how many.
   */
  announceHeads(): Promise<number>
  /** Counts sign-ins per time step, oldest first, including empty steps. */
  signIns(organizationId: OrganizationId, range: SignInRange): Promise<readonly SignIns[]>
  /** Deletes entries older than a given time from the front of each chain; returns how many. */
  forget(before: number): Promise<number>
}

const pageSize = 100

export function createAudit(deps: { store: Store }): Audit {
  const { store } = deps

  return {
    async list(organizationId, page) {
      return (await auditEntries.list(store.slowReads, organizationId, page)).map(toEntry)
    },
    names: async (organizationId, entries) =>
      await subjectNames(
        store.slowReads,
        organizationId,
        entries.map(({ subject }) => subject),
      ),
    async *pages(organizationId, filter) {
      // Reading begins at the lowest number rather than at 1, so that forged entries with numbers below 1 are listed too.
      for (let next: number | undefined; ;) {
        const rows = await auditEntries.listFrom(store.slowReads, {
          organizationId,
          fromSequence: next,
          limit: pageSize,
        })
        yield rows.filter((row) => matches(row, filter)).map(toEntry)
        const last = rows.at(-1)
        if (rows.length < pageSize || !last) return
        next = last.sequence + 1
      }
    },
    verify: async (organizationId, against) => await verifyChain(store, organizationId, against),
    head: async (organizationId) => await signedHead(store, organizationId),
    chains: async () => await auditEntries.chainIds(store),
    announceHeads: async () => await announceHeads(store),
    signIns: async (organizationId, range) =>
      toSteps(range, await countSignIns(store.slowReads, organizationId, range)),
    forget: async (before) => await forgetEntries(store, before),
  }
}

type Row = Awaited<ReturnType<typeof auditEntries.listFrom>>[number]

function matches(row: Row, filter: AuditFilter): boolean {
  return (
    (filter.action === undefined || row.action === filter.action) &&
    (filter.actorId === undefined || row.actor_id === filter.actorId) &&
    (filter.subjectId === undefined || row.subject_id === filter.subjectId) &&
    (filter.search === undefined || holds(row, filter.search.toLowerCase())) &&
    (filter.from === undefined || row.at >= filter.from) &&
    (filter.until === undefined || row.at < filter.until)
  )
}

function holds(row: Row, searched: string): boolean {
  const { action, actor_name: name, subject_id: subject, detail, address, request_id: id } = row
  return [action, name, subject, detail, address, id].some(
    (text) => text?.toLowerCase().includes(searched) === true,
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

function toSteps(
  { from, to, stepMs }: SignInRange,
  counts: Awaited<ReturnType<typeof countSignIns>>,
): readonly SignIns[] {
  const found = new Map(counts.map(({ step, action, count }) => [`${step} ${action}`, count]))
  return Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, step) => {
    const of = (action: (typeof counts)[number]['action']) => found.get(`${step} ${action}`) ?? 0
    const company = of('sso.signed_in')
    // Each sign-in through the organization's provider also starts a session, so it is subtracted here.
    const other = Math.max(0, of('session.started') - company)
    return { at: from + step * stepMs, company, other, refused: of('sso.refused') }
  })
}
