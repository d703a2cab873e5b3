import { cell, record } from '../../../audit/index.ts'
import { Type, type Static } from '../../../http/index.ts'
import { callSearch } from '../../../store/index.ts'
import { callFilterProperties, toCallFilter } from './filter.ts'
import { namesFor, toApiCall, type ApiCall } from './call-schema.ts'
import { requireStillAllowed } from './live.ts'
import { route, Streamed, type RouteRequest } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'
import { input, oneOf } from '../../core/schemas.ts'

/** How many calls an export may contain; older calls need another export with an earlier `to`. */
const maxExported = 100_000
const pageSize = 100

type Call = Static<typeof ApiCall>
type Filter = Awaited<ReturnType<typeof toCallFilter>>

/** Calls as a downloadable file. */
export const callExportRoutes = {
  'POST /organizations/:organization/calls/export': route({
    summary:
      'Calls as JSON lines or CSV, newest first, at most 100,000; the export itself becomes an audit entry',
    permission: 'traffic.see',
    status: 200,
    streams: ['application/x-ndjson', 'text/csv'],
    body: input({
      format: oneOf(['ndjson', 'csv']),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxExported })),
      ...callFilterProperties,
    }),
    handle: async (request, services) => {
      const { organization, body, actor } = request
      const { format, limit = maxExported, ...narrowed } = body
      const filter = await toCallFilter(organization, narrowed, services)
      await services.store.transaction(async (tx) => {
        record(tx, {
          organizationId: organization.id,
          actor,
          action: 'calls.exported',
          subject: { kind: 'organization', id: organization.id },
          detail: { format, ...narrowed },
        })
      })
      const pages = walk(request, { filter, limit }, services)
      const name = `calls-${organization.slug}`
      return format === 'csv'
        ? new Streamed('text/csv; charset=utf-8', toCsv(pages), `${name}.csv`)
        : new Streamed('application/x-ndjson', toJsonLines(pages), `${name}.ndjson`)
    },
  }),
}

/** Yields pages; throws `session_ended` once the caller's session, membership or access token has ended. */
async function* walk(
  request: Pick<RouteRequest, 'caller' | 'organization' | 'signal'>,
  { filter, limit }: { readonly filter: Filter; readonly limit: number },
  services: Services,
): AsyncIterable<readonly Call[]> {
  const { organization, signal } = request
  let before: string | undefined
  for (let left = limit; left > 0;) {
    if (signal.aborted) return
    const page = { ...filter, before, limit: Math.min(pageSize, left) }
    const { calls: found, searchedTo } = await callSearch.search(
      services.store.slowCallReads,
      organization.id,
      page,
    )
    const names = await namesFor(organization, found, services)
    // The caller's rights are checked after the read, so that no call recorded after the rights ended is sent.
    await requireStillAllowed(request, services)
    yield found.map((call) => toApiCall(call, names))
    if (found.length < page.limit && searchedTo === undefined) return
    left -= found.length
    before = searchedTo ?? found.at(-1)?.id
  }
}

async function* toJsonLines(pages: AsyncIterable<readonly Call[]>): AsyncIterable<string> {
  for await (const page of pages) {
    if (page.length > 0) yield page.map((call) => `${JSON.stringify(call)}\n`).join('')
  }
}

/** The columns of the CSV file; captured data is exported in JSON lines only. */
const columns: readonly (readonly [string, (call: Call) => string | number | undefined])[] = [
  ['id', (call) => call.id],
  ['at', (call) => call.at],
  ['key_id', (call) => call.key_id],
  ['key_name', (call) => call.key_name],
  ['target', (call) => call.target],
  ['method', (call) => call.method],
  ['path', (call) => call.path],
  ['status', (call) => call.status],
  ['code', (call) => call.code],
  ['stopped_at', (call) => call.stopped_at],
  ['rule_id', (call) => call.rule_id],
  ['trial_rule_id', (call) => call.trial_rule_id],
  ['request_bytes', (call) => call.request_bytes],
  ['answer_bytes', (call) => call.answer_bytes],
  ['duration_ms', (call) => call.duration_ms],
  ['upstream_ms', (call) => call.upstream_ms],
  ['address', (call) => call.address],
  ['agent', (call) => call.agent],
]

async function* toCsv(pages: AsyncIterable<readonly Call[]>): AsyncIterable<string> {
  yield `${columns.map(([name]) => name).join(',')}\r\n`
  for await (const page of pages) {
    if (page.length > 0) yield page.map(row).join('')
  }
}

function row(call: Call): string {
  return `${columns.map(([, valueOf]) => cell(String(valueOf(call) ?? ''))).join(',')}\r\n`
}
