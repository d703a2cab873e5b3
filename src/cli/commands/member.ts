import { createSessions, isRole, openSigningKeys, roles } from '../../access/index.ts'
import { createMembers, createOrganizations, type Members } from '../../organizations/index.ts'
import { createSsoPolicies } from '../../sso/index.ts'
import type { MemberRecord } from '../../store/index.ts'
import { command, need, UsageError } from '../lib/command.ts'
import { withRooms, type Rooms } from '../lib/services.ts'
import { isoTime, renderTable, shortTime } from '../lib/table.ts'

const mostListed = 1000

export const commands = {
  add: command({
    usage: '<org> <email> --role owner|admin|developer|viewer [--name NAME]',
    about: 'somebody joins without an invitation; `intercept sign-in-link` lets them in',
    options: { role: { type: 'string' }, name: { type: 'string' } },
    run: async ({ values, positionals: [slug = '', email = ''] }, terminal) => {
      const role = need('--role', values.role)
      if (!isRole(role)) throw new UsageError(`--role must be ${roles.join(' or ')}`)
      return await withRooms(terminal, async (rooms) => {
        const organization = await createOrganizations(rooms).get(slug)
        const wish = { email, role, name: values.name }
        const members = await membersOf(rooms)
        const member = await members.add(organization.id, wish, rooms.actor)
        return {
          data: present(member),
          text: `${email} is ${role} of ${organization.slug}. To let them in: intercept sign-in-link ${email}`,
        }
      })
    },
  }),
  list: command({
    usage: '<org>',
    about: 'who belongs to an organization',
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withRooms(terminal, async (rooms) => {
        const organization = await createOrganizations(rooms).get(slug)
        const members = await membersOf(rooms)
        const found = await members.list(organization.id, { limit: mostListed })
        const rows = found.map((member) => [
          member.email ?? '–',
          member.name,
          member.role,
          member.deactivatedAt === undefined ? 'active' : 'deactivated',
          shortTime(member.lastSeenAt),
        ])
        const text = renderTable(
          ['E-MAIL', 'NAME', 'ROLE', 'STATE', 'LAST SEEN (UTC)'],
          rows,
          'Nobody yet; `intercept setup-link` prints the first owner’s way in.',
        )
        return { data: found.map(present), text }
      }),
  }),
}

async function membersOf({ store, sealer, clock, config }: Rooms): Promise<Members> {
  const signingKeys = await openSigningKeys({ store, sealer, clock })
  const sessions = createSessions({
    store,
    clock,
    signingKeys,
    format: config.sessionFormat,
    issuer: config.authUrl,
    audience: config.baseUrl,
    lifetimeMs: config.limits.sessionMs,
    idleMs: config.limits.sessionIdleMs,
  })
  // Only asked about visitors of the dashboard, of whom the command line has none.
  const policies = createSsoPolicies({ store, directory: { isOn: async () => false } })
  return createMembers({ store, clock, sessions, policies })
}

function present(member: MemberRecord) {
  return {
    id: member.id,
    user_id: member.userId,
    email: member.email ?? null,
    name: member.name,
    role: member.role,
    source: member.source,
    state: member.deactivatedAt === undefined ? 'active' : 'deactivated',
    created_at: isoTime(member.createdAt),
    last_seen_at: isoTime(member.lastSeenAt),
  }
}
