import { createOrganizations } from '../organizations/index.ts'
import type { OrganizationRecord, Plan } from '../store/index.ts'
import { command, UsageError } from './command.ts'
import { withRooms } from './rooms.ts'
import { isoTime, renderTable, shortTime } from './table.ts'

const mostListed = 1000

export const commands = {
  create: command({
    usage: '<slug> [--name NAME] [--plan standard|enterprise]',
    about: 'a new organization',
    options: { name: { type: 'string' }, plan: { type: 'string' } },
    run: async ({ values, positionals: [slug = ''] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const plan = values.plan === undefined ? undefined : parsePlan(values.plan)
        const wish = { slug, name: values.name, plan }
        const created = await createOrganizations(rooms).create(wish, rooms.actor)
        return { data: present(created), text: `Organization ${created.slug} (${created.id}).` }
      }),
  }),
  list: command({
    usage: '',
    about: 'all organizations',
    run: async (_call, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const found = await createOrganizations(rooms).list({ limit: mostListed })
        const rows = found.map((one) => [one.slug, one.name, one.plan, shortTime(one.createdAt)])
        const text = renderTable(
          ['SLUG', 'NAME', 'PLAN', 'CREATED (UTC)'],
          rows,
          'No organization yet; `intercept org create <slug>` makes one.',
        )
        return { data: found.map(present), text }
      }),
  }),
  'set-plan': command({
    usage: '<slug> <standard|enterprise>',
    about: 'what the organization may use',
    run: async ({ positionals: [slug = '', plan = ''] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const wanted = parsePlan(plan)
        const changed = await createOrganizations(rooms).setPlan(slug, wanted, rooms.actor)
        return { data: present(changed), text: `${changed.slug} is on the ${changed.plan} plan.` }
      }),
  }),
}

function parsePlan(text: string): Plan {
  if (text !== 'standard' && text !== 'enterprise') {
    throw new UsageError('the plan is standard or enterprise')
  }
  return text
}

function present(organization: OrganizationRecord) {
  return {
    id: organization.id,
    slug: organization.slug,
    name: organization.name,
    plan: organization.plan,
    created_at: isoTime(organization.createdAt),
  }
}
