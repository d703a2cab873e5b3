import { readFileSync } from 'node:fs'
import { createAudit, type Audit, type SignedHead } from '../../audit/index.ts'
import { createOrganizations } from '../../organizations/index.ts'
import { BadFinding, UsageError, command } from '../lib/command.ts'
import { withRooms, type Rooms } from '../lib/services.ts'

const maxOrganizations = 100_000

export const commands = {
  verify: command({
    usage: '[org]',
    about:
      'recompute the audit chains: a changed, added, removed or reordered entry shows (exit 1)',
    options: { against: { type: 'string' } },
    run: async ({ values, positionals: [slug] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const kept = values.against === undefined ? [] : readHeads(values.against)
        const audit = createAudit(rooms)
        const chains = await chainsOf(rooms, audit, slug)
        const reports = []
        for (const chain of chains) {
          const against = kept.find((head) => head.organizationId === chain.id)
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
      'where the audit chains end now, signed: keep it elsewhere for `audit verify --against <file>`',
    run: async ({ positionals: [slug] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const audit = createAudit(rooms)
        const heads = []
        for (const { id } of await chainsOf(rooms, audit, slug)) {
          const { organizationId, ...head } = await audit.head(id)
          heads.push({ organization_id: organizationId, ...head })
        }
        const data = { at: new Date(rooms.clock.now()).toISOString(), heads }
        return { data, text: JSON.stringify(data) }
      }),
  }),
}

/** The chains to look at: an organization's, or all, those of nobody included. */
async function chainsOf(
  rooms: Rooms,
  audit: Audit,
  slug: string | undefined,
): Promise<readonly { id: string; slug: string }[]> {
  const organizations = createOrganizations(rooms)
  if (slug !== undefined) return [await organizations.get(slug)]
  const slugs = new Map<string, string>(
    (await organizations.list({ limit: maxOrganizations })).map((one) => [one.id, one.slug]),
  )
  const ids = new Set(['system', ...slugs.keys(), ...(await audit.chains())])
  return [...ids].map((id) => ({ id, slug: slugs.get(id) ?? id }))
}

/** Heads as `audit head` or the JSON API gave them. */
function readHeads(file: string): SignedHead[] {
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new UsageError(`${file} holds no JSON: give what \`audit head\` printed.`)
  }
  const list = (content as { heads?: unknown } | null)?.heads ?? content
  return (Array.isArray(list) ? list : [list]).map((one: unknown) => readHead(one, file))
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
    throw new UsageError(`${file} holds no signed head: give what \`audit head\` printed.`)
  }
  return { organizationId, sequence: sequence as number, hash, seal }
}

function say(report: {
  organization: string
  entries: number
  brokenAt: number | undefined
  reason: string | undefined
}): string {
  const { organization, entries, brokenAt, reason } = report
  return brokenAt === undefined
    ? `ok    ${organization}: ${entries} entries, each following the one before`
    : `WRONG ${organization}: broken at entry ${brokenAt}: ${reason}`
}
