import { record, toCsv, toJsonLines, type AuditEntry, type AuditPages } from '../../audit/index.ts'
import { Type, type Static } from '../../http/index.ts'
import { requireStillAllowed } from './calls/live.ts'
import type { Services } from '../core/services.ts'
import { route, Streamed, type RouteRequest } from '../core/route.ts'
import { limitOf, numberCursor, pageOf, pageQuery, toPage } from '../core/paging.ts'
import { optionalMomentOf } from '../core/moments.ts'
import { nullable, oneOf, Time, time } from '../core/schemas.ts'

const Entry = Type.Object(
  {
    id: Type.String(),
    sequence: Type.Integer(),
    at: Time,
    actor: Type.Object({
      kind: Type.String(),
      id: nullable(Type.String()),
      name: nullable(Type.String()),
    }),
    action: Type.String(),
    /**
     * `name` is the name of a key or access token, the slug of a target or the URL of an endpoint; null for any other
     * subject, or if its record is gone.
     */
    subject: Type.Object({
      kind: Type.String(),
      id: Type.String(),
      name: nullable(Type.String()),
    }),
    detail: Type.Record(Type.String(), Type.Unknown()),
    address: nullable(Type.String()),
    request_id: nullable(Type.String()),
    hash: Type.String(),
  },
  { title: 'AuditEntry' },
)

const filter = {
  action: Type.Optional(Type.String({ maxLength: 100 })),
  actor_id: Type.Optional(Type.String({ maxLength: 100 })),
  subject_id: Type.Optional(Type.String({ maxLength: 100 })),
  /**
   * Text that occurs in the action, the actor's name, the subject's id, the request's id, the address or the detail.
   */
  search: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  from: Type.Optional(Time),
  until: Type.Optional(Time),
}

/** The audit log: who changed what, with its verification and export. */
export const auditRoutes = {
  'GET /organizations/:organization/audit': route({
    summary: 'Audit entries, newest first',
    permission: 'audit.see',
    query: Type.Object({ ...pageQuery, ...filter }),
    answer: pageOf(Entry),
    handle: async ({ organization, query }, services) => {
      const before = numberCursor(query.after)
      const page = { ...toFilter(query), before, limit: limitOf(query) + 1 }
      const entries = await services.audit.list(organization.id, page)
      const names = await services.audit.names(organization.id, entries)
      return toPage(query, entries, {
        item: (entry) => toEntry(entry, names.get(entry.subject.id)),
        cursorOf: ({ sequence }) => String(sequence),
      })
    },
  }),

  'GET /organizations/:organization/audit/chain': route({
    summary:
      "Verify the audit log's hash chain, which reveals changed, removed or reordered entries",
    permission: 'audit.see',
    answer: Type.Object({
      intact: Type.Boolean(),
      entries: Type.Integer(),
      broken_at: nullable(Type.Integer()),
      reason: nullable(Type.String()),
      /** The hash of the last entry that was read. */
      last_hash: Type.String(),
      checked_at: Time,
    }),
    handle: async ({ organization }, services) => {
      const report = await services.audit.verify(organization.id)
      return {
        intact: report.brokenAt === undefined,
        entries: report.entries,
        broken_at: report.brokenAt ?? null,
        reason: report.reason ?? null,
        last_hash: report.lastHash,
        checked_at: time(services.clock.now()),
      }
    },
  }),

  'GET /organizations/:organization/audit/head': route({
    summary:
      "The signed end of the audit log's hash chain; keep it elsewhere for `audit verify --against`",
    permission: 'audit.see',
    answer: Type.Object({
      organization_id: Type.String(),
      sequence: Type.Integer(),
      hash: Type.String(),
      seal: Type.String(),
      at: Time,
    }),
    handle: async ({ organization }, services) => {
      const { organizationId, ...head } = await services.audit.head(organization.id)
      return { organization_id: organizationId, ...head, at: time(services.clock.now()) }
    },
  }),

  'POST /organizations/:organization/audit/export': route({
    summary: 'Audit entries as JSON lines or CSV, oldest first; the export itself becomes an entry',
    permission: 'audit.see',
    status: 200,
    streams: ['application/x-ndjson', 'text/csv'],
    body: Type.Object(
      { format: oneOf(['ndjson', 'csv']), ...filter },
      { additionalProperties: false },
    ),
    handle: async (request, services) => {
      const { organization, body, actor } = request
      const chosen = toFilter(body)
      const { format } = body
      await services.store.transaction(async (tx) => {
        record(tx, {
          organizationId: organization.id,
          actor,
          action: 'audit.exported',
          subject: { kind: 'organization', id: organization.id },
          detail: { format },
        })
      })
      const pages = whileAllowed(request, services.audit.pages(organization.id, chosen), services)
      const name = `audit-${organization.slug}`
      return format === 'csv'
        ? new Streamed('text/csv; charset=utf-8', toCsv(pages), `${name}.csv`)
        : new Streamed('application/x-ndjson', toJsonLines(pages), `${name}.ndjson`)
    },
  }),
}

/** Yields pages; throws `session_ended` once the caller's session, membership or access token has ended. */
async function* whileAllowed(
  request: Pick<RouteRequest, 'caller' | 'organization'>,
  pages: AuditPages,
  services: Services,
): AuditPages {
  for await (const page of pages) {
    await requireStillAllowed(request, services)
    yield page
  }
}

function toFilter(query: {
  action?: string
  actor_id?: string
  subject_id?: string
  search?: string
  from?: string
  until?: string
}) {
  return {
    action: query.action,
    actorId: query.actor_id,
    subjectId: query.subject_id,
    search: query.search,
    from: optionalMomentOf(query.from),
    until: optionalMomentOf(query.until),
  }
}

function toEntry(entry: AuditEntry, name: string | undefined): Static<typeof Entry> {
  return {
    id: entry.id,
    sequence: entry.sequence,
    at: time(entry.at),
    actor: {
      kind: entry.actor.kind,
      id: entry.actor.id ?? null,
      name: entry.actor.name ?? null,
    },
    action: entry.action,
    subject: { ...entry.subject, name: name ?? null },
    detail: entry.detail,
    address: entry.address ?? null,
    request_id: entry.requestId ?? null,
    hash: entry.hash,
  }
}
