import { createAudit } from '../../audit/index.ts'
import { createOrganizations } from '../../organizations/index.ts'
import { BadFinding, command } from '../lib/command.ts'
import { withRooms } from '../lib/services.ts'

const mostChecked = 100_000

export const commands = {
  verify: command({
    usage: '[org]',
    about: 'recompute the audit chains: a changed, removed or reordered entry shows (exit 1)',
    run: async ({ positionals: [slug] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const organizations = createOrganizations(rooms)
        const chains =
          slug === undefined
            ? [
                { id: 'system', slug: 'system' },
                ...(await organizations.list({ limit: mostChecked })),
              ]
            : [await organizations.get(slug)]
        const audit = createAudit(rooms)
        const reports = []
        for (const chain of chains) {
          reports.push({ organization: chain.slug, ...(await audit.verify(chain.id)) })
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
