import { openSigningKeys, roles, Sessions } from '../../access/index.ts'
import { Members } from '../../organizations/index.ts'
import { SsoPolicies } from '../../sso/index.ts'
import type { MemberRecord } from '../../store/index.ts'
import { Problem } from '../../errors.ts'
import type { OrganizationId } from '../../ids.ts'
import { command, need, readWord } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import { withServices, type Services } from '../lib/services.ts'
import { firstListed, isoTime, maxListed, renderTable, shortTime } from '../lib/table.ts'
import { printableInLine } from '../lib/terminal.ts'

/** Matches an ASCII text of a length that the API's search accepts. */
const searchable = /^[ -~]{1,100}$/

/** The member operations that commands use, on the database or over the API. */
type MemberWork = Pick<Members, 'add' | 'list' | 'get' | 'setRole' | 'remove'>

export const commands = {
  add: command({
    usage: '<org> <email> --role owner|admin|developer|viewer [--name NAME]',
    about: 'add somebody without an invitation; `intercept sign-in-link` then lets them in',
    options: {
      role: { type: 'string', value: 'ROLE', about: 'owner, admin, developer or viewer' },
      name: { type: 'string', value: 'NAME', about: 'what to call them' },
    },
    local: {
      because: 'people who join otherwise are invited, and prove their address by a provider',
    },
    examples: ['intercept member add acme ada@example.com --role admin'],
    run: async ({ values, positionals: [slug = '', email = ''] }, terminal) => {
      const role = readWord('--role', need('--role', values.role), roles)
      return await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const input = { email, role, name: values.name }
        const members = await membersOf(services)
        const member = await members.add(organization.id, input, services.actor)
        return {
          data: present(member),
          text: `${email} is ${role} of ${organization.slug}. To let them in: \`intercept sign-in-link ${email}\``,
        }
      })
    },
  }),
  role: command({
    usage: '<org> <email|member-id> <owner|admin|developer|viewer>',
    about: "change somebody's role; their sessions end, so that the new role holds at once",
    examples: ['intercept member role acme ada@example.com admin'],
    run: async ({ positionals: [slug = '', who = '', wanted = ''] }, terminal) => {
      const role = readWord('The role', wanted, roles)
      return await withServices(terminal, async (services) => {
        const { id: organizationId } = await (await organizationsOf(services)).get(slug)
        const members = await membersOf(services)
        const { id } = await findMember(members, organizationId, who)
        const change = { organizationId, id, role, actor: services.actor }
        const member = await members.setRole(change)
        return { data: present(member), text: `${nameOf(member)} is ${role} of ${slug}.` }
      })
    },
  }),
  remove: command({
    usage: '<org> <email|member-id>',
    about: 'end a membership for good, with its sessions and personal keys',
    examples: ['intercept member remove acme ada@example.com'],
    run: async ({ positionals: [slug = '', who = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const { id: organizationId } = await (await organizationsOf(services)).get(slug)
        const members = await membersOf(services)
        const member = await findMember(members, organizationId, who)
        const { id } = member
        const ended = await members.remove({ organizationId, id, actor: services.actor })
        const { sessions, keys, confirmation } = ended
        return {
          data: {
            ...{ id, removed: true, sessions, keys },
            nodes: confirmation.nodes,
            silent_nodes: confirmation.silentNodes,
            took_ms: confirmation.tookMs,
          },
          text: `${nameOf(member)} is no member of ${slug} any more; ${sessions} sessions ended and ${keys} personal keys were revoked.`,
        }
      }),
  }),
  list: command({
    usage: '<org> [--search TEXT]',
    about: 'list who belongs to an organization',
    options: {
      search: {
        type: 'string',
        value: 'TEXT',
        about: 'an id, or part of a name or e-mail address',
      },
    },
    examples: ['intercept member list acme', 'intercept member list acme --search ada'],
    run: async ({ values: { search }, positionals: [slug = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const members = await membersOf(services)
        const found = await firstListed(
          terminal,
          async (limit) => await members.list(organization.id, { search, limit }),
          '`--search` finds fewer.',
        )
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
          search === undefined
            ? 'Nobody yet; `intercept setup-link` prints the first owner’s way in.'
            : 'Nobody matches.',
        )
        return { data: found.map(present), text }
      }),
  }),
}

/** Finds a member by id or e-mail address; throws `not_found`, or `conflict` if several have the address. */
async function findMember(
  members: MemberWork,
  organizationId: OrganizationId,
  who: string,
): Promise<MemberRecord> {
  if (!who.includes('@')) return await members.get(organizationId, who)
  const [found, ...others] = await listByEmail(members, organizationId, who.trim().toLowerCase())
  if (found === undefined) throw new Problem('not_found', `${who} is no member there.`)
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    throw new Problem('conflict', `Several members have the address ${who}: say which, of ${ids}.`)
  }
  return found
}

/** Lists all members with an address, which is given in lower case. */
async function listByEmail(
  members: MemberWork,
  organizationId: OrganizationId,
  wanted: string,
): Promise<MemberRecord[]> {
  // Some databases cannot fold letters beyond ASCII, so for an address with such letters all members are compared.
  const search = searchable.test(wanted) ? wanted : undefined
  const found: MemberRecord[] = []
  for (let after: string | undefined; ;) {
    const page = await members.list(organizationId, { search, after, limit: maxListed })
    found.push(...page.filter(({ email }) => email?.toLowerCase() === wanted))
    if (page.length < maxListed) return found
    after = page.at(-1)?.id
  }
}

function nameOf(member: MemberRecord): string {
  return printableInLine(member.email ?? member.name)
}

async function membersOf(services: Services): Promise<MemberWork> {
  const { remote, store, sealer, clock, config } = services
  if (remote !== undefined) return (await import('../remote/members.ts')).remoteMembers(remote)
  const signingKeys = await openSigningKeys({ store, sealer, clock })
  const sessions = new Sessions({
    store,
    clock,
    signingKeys,
    format: config.sessionFormat,
    issuer: config.authUrl,
    audience: config.baseUrl,
    lifetimeMs: config.limits.sessionMs,
    idleMs: config.limits.sessionIdleMs,
  })
  // These policies concern dashboard sessions only, and the command line has none.
  const policies = new SsoPolicies({ store, directory: { isOn: async () => false } })
  return new Members({ store, clock, sessions, policies })
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
