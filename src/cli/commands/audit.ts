import { readFileSync } from 'node:fs'
import type { AuditEntry, SignedHead } from '../../audit/index.ts'
import { Problem } from '../../errors.ts'
import { parseSince } from '../lib/call-query.ts'
import { BadFinding, command, readWhole, UsageError } from '../lib/command.ts'
import { auditOf, organizationsOf } from '../lib/nouns.ts'
import { withServices, type Services } from '../lib/services.ts'
import { isoTime, maxListed, renderTable, shortTime } from '../lib/table.ts'

const maxOrganizations = 100_000

export const commands = {
  list: command({
    usage:
      '<org> [--action ACTION] [--actor ID] [--subject ID] [--search TEXT] [--since 24h] [--limit 50]',
    about: 'list who changed what, newest first; `system` for what concerns no organization',
    options: {
      action: {
        type: 'string',
        value: 'ACTION',
        about: 'entries of this kind, such as api_key.revoked',
      },
      actor: { type: 'string', value: 'ID', about: 'what this person, key or directory did' },
      subject: { type: 'string', value: 'ID', about: 'what happened to this thing' },
      search: {
        type: 'string',
        value: 'TEXT',
        about: 'entries with this in their action, names, ids, address or detail',
      },
      since: {
        type: 'string',
        value: 'TIME',
        about: 'entries of the last 24h, 7d, or since a date',
      },
      limit: { type: 'string', default: '50', value: 'N', about: 'how many, up to 1000' },
    },
    examples: ['intercept audit list acme --action api_key.revoked --since 30d'],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const limit = readWhole('--limit', values.limit, { max: maxListed })
      return await withServices(terminal, async (services) => {
        const id = slug === 'system' ? slug : (await (await organizationsOf(services)).get(slug)).id
        const found = await (
          await auditOf(services)
        ).list(id, {
          ...{ limit, action: values.action, actorId: values.actor, subjectId: values.subject },
          search: values.search,
          from: optionalSince(values.since, services.clock.now()),
        })
        const rows = found.map((entry) => [
          shortTime(entry.at),
          entry.actor.name ?? entry.actor.id ?? entry.actor.kind,
          entry.action,
          `${entry.subject.kind} ${entry.subject.id}`,
          entry.address ?? '',
        ])
        const head = ['TIME (UTC)', 'WHO', 'WHAT', 'TO', 'FROM']
        return { data: found.map(present), text: renderTable(head, rows, 'No such entry.') }
      })
    },
  }),
  verify: command({
    usage: '[org] [--against FILE]',
    about:
      'recompute the audit chains: a changed, added, removed or reordered entry shows (exit 1)',
    options: {
      against: {
        type: 'string',
        value: 'FILE',
        about:
          'what `audit head` printed once, or the body of an event audit.head_sealed: the chains must go on from there',
      },
    },
    examples: ['intercept audit verify acme', 'intercept audit verify --against heads.json'],
    run: async ({ values, positionals: [slug] }, terminal) =>
      await withServices(terminal, async (services) => {
        const kept = values.against === undefined ? [] : readHeads(values.against)
        const audit = await auditOf(services)
        const chains = await chainsOf(services, slug)
        const reports = []
        for (const chain of chains) {
          const against = kept.find((head) => head.organizationId === chain.id)
          if (slug !== undefined && values.against !== undefined && against === undefined) {
            throw new UsageError(`${values.against} holds no head of ${slug}`)
          }
          reports.push({ organization: chain.slug, ...(await audit.verify(chain.id, against)) })
        }
        for (const head of slug === undefined ? kept : []) {
          if (chains.some(({ id }) => id === head.organizationId)) continue
          const report = await audit.verify(head.organizationId, head)
          reports.push({ organization: head.organizationId, ...report })
        }
        const broken = reports.filter((report) => report.brokenAt !== undefined)
        const answer = {
          data: {
            ok: broken.length === 0,
            chains: reports.map((report) => ({
              organization: report.organization,
              entries: report.entries,
              broken_at: report.brokenAt ?? null,
              reason: report.reason ?? null,
              last_hash: report.lastHash,
            })),
          },
          text: reports.map(say).join('\n'),
        }
        if (broken.length > 0) throw new BadFinding(answer)
        return answer
      }),
  }),
  head: command({
    usage: '[org]',
    about:
      'print where the audit chains end now, signed: keep it elsewhere for `audit verify --against <file>`',
    examples: ['intercept audit head > heads.json'],
    run: async ({ positionals: [slug] }, terminal) =>
      await withServices(terminal, async (services) => {
        const audit = await auditOf(services)
        const heads = []
        for (const { id } of await chainsOf(services, slug)) {
          const { organizationId, ...head } = await audit.head(id)
          heads.push({ organization_id: organizationId, ...head })
        }
        const data = { at: new Date(services.clock.now()).toISOString(), heads }
        return { data, text: JSON.stringify(data) }
      }),
  }),
}

/**
 * Without a slug, returns all chains, including those of deleted organizations and of the system. Over the API, a slug
 * is required.
 */
async function chainsOf(
  services: Services,
  slug: string | undefined,
): Promise<readonly { id: string; slug: string }[]> {
  const organizations = await organizationsOf(services)
  if (slug !== undefined) return [await organizations.get(slug)]
  if (services.remote !== undefined) {
    throw new Problem(
      'invalid_input',
      'Over the API, name the organization: a token speaks for one. All chains are looked at on the database.',
    )
  }
  const { createAudit } = await import('../../audit/index.ts')
  const slugs = new Map<string, string>(
    (await organizations.list({ limit: maxOrganizations })).map((one) => [one.id, one.slug]),
  )
  const ids = new Set(['system', ...slugs.keys(), ...(await createAudit(services).chains())])
  return [...ids].map((id) => ({ id, slug: slugs.get(id) ?? id }))
}

/** Parses signed heads of chains from the output of `audit head`, the JSON API or an `audit.head_sealed` event. */
function readHeads(file: string): SignedHead[] {
  const text = readFileSync(file, 'utf8')
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new UsageError(`${file} holds no JSON: give what \`audit head\` printed`)
  }
  const { heads, data } = (content ?? {}) as { heads?: unknown; data?: unknown }
  const list = heads ?? data ?? content
  const found = (Array.isArray(list) ? list : [list]).map((one: unknown) => readHead(one, file))
  // A file without heads is refused: nothing would be compared with it, and the command would still succeed.
  if (found.length === 0) throw noHead(file)
  return found
}

function readHead(value: unknown, file: string): SignedHead {
  const head = value as Partial<Record<'organization_id' | 'hash' | 'seal', unknown>> & {
    sequence?: unknown
  }
  const { organization_id: organizationId, sequence, hash, seal } = head ?? {}
  if (
    typeof organizationId !== 'string' ||
    !Number.isSafeInteger(sequence) ||
    typeof hash !== 'string' ||
    typeof seal !== 'string'
  ) {
    throw noHead(file)
  }
  return { organizationId, sequence: sequence as number, hash, seal }
}

function noHead(file: string): UsageError {
  return new UsageError(`${file} holds no signed head: give what \`audit head\` printed`)
}

function optionalSince(text: string | undefined, nowMs: number): number | undefined {
  return text === undefined ? undefined : parseSince('--since', text, nowMs)
}

function present(entry: AuditEntry) {
  return {
    id: entry.id,
    sequence: entry.sequence,
    at: isoTime(entry.at),
    actor: {
      kind: entry.actor.kind,
      id: entry.actor.id ?? null,
      name: entry.actor.name ?? null,
    },
    action: entry.action,
    subject: entry.subject,
    detail: entry.detail,
    address: entry.address ?? null,
    request_id: entry.requestId ?? null,
    hash: entry.hash,
  }
}

function say(report: {
  organization: string
  entries: number
  brokenAt: number | undefined
  reason: string | undefined
}): string {
  const { organization, entries, brokenAt, reason } = report
  return brokenAt === undefined
    ? `ok    ${organization}: ${entries === 1 ? '1 entry' : `${entries} entries`}, each following the one before`
    : `WRONG ${organization}: broken at entry ${brokenAt}: ${reason}`
}
