import { readKeyDefaults, readOrganizationRate, type KeyDefaults } from '../../access/index.ts'
import { snakeCased, type OrganizationRecord, type Plan } from '../../store/index.ts'
import { dayMs, parseCallsPerSeconds, parseDuration } from '../../units.ts'
import { command, read, UsageError } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import { withServices } from '../lib/services.ts'
import { parseScheme } from '../lib/scheme.ts'
import { firstListed, isoTime, renderTable, shortTime } from '../lib/table.ts'

export const commands = {
  create: command({
    usage: '<slug> [--name NAME] [--plan standard|enterprise]',
    about: 'make an organization',
    options: {
      name: { type: 'string', value: 'NAME', about: 'what people see' },
      plan: { type: 'string', value: 'PLAN', about: 'standard or enterprise' },
    },
    examples: ["intercept org create acme --name 'Acme Inc' --plan enterprise"],
    run: async ({ values, positionals: [slug = ''] }, terminal) =>
      await withServices(
        terminal,
        async (services) => {
          const plan = values.plan === undefined ? undefined : parsePlan(values.plan)
          const input = { slug, name: values.name, plan }
          const created = await (await organizationsOf(services)).create(input, services.actor)
          return { data: present(created), text: `Organization ${created.slug} (${created.id}).` }
        },
        { creates: true },
      ),
  }),
  list: command({
    usage: '',
    about: 'list all organizations',
    examples: ['intercept org list'],
    run: async (_call, terminal) =>
      await withServices(terminal, async (services) => {
        const organizations = await organizationsOf(services)
        const found = await firstListed(
          terminal,
          async (limit) => await organizations.list({ limit }),
        )
        const rows = found.map((one) => [one.slug, one.name, one.plan, shortTime(one.createdAt)])
        const text = renderTable(
          ['SLUG', 'NAME', 'PLAN', 'CREATED (UTC)'],
          rows,
          'No organization yet; `intercept org create acme` makes one.',
        )
        return { data: found.map(present), text }
      }),
  }),
  'set-plan': command({
    usage: '<slug> <standard|enterprise>',
    about: 'set what an organization may use: enterprise adds company sign-in and the directory',
    examples: ['intercept org set-plan acme enterprise'],
    run: async ({ positionals: [slug = '', plan = ''] }, terminal) =>
      await withServices(terminal, async (services) => {
        const wanted = parsePlan(plan)
        const changed = await (
          await organizationsOf(services)
        ).setPlan(slug, wanted, services.actor)
        return { data: present(changed), text: `${changed.slug} is on the ${changed.plan} plan.` }
      }),
  }),
  limits: command({
    usage: '<slug> [--rate 500/s|none]',
    about: 'what all calls of the organization share, over all nodes; shows it, or changes it',
    options: {
      rate: { type: 'string', value: 'RATE', about: 'such as 500/s or 6000/m, or none' },
    },
    examples: ['intercept org limits acme --rate 500/s'],
    run: async ({ values: { rate: text }, positionals: [slug = ''] }, terminal) => {
      const rateLimit =
        text === undefined || text === 'none' ? null : read('--rate', text, parseCallsPerSeconds)
      return await withServices(terminal, async (services) => {
        const organizations = await organizationsOf(services)
        const found = await organizations.get(slug)
        const changed =
          text === undefined
            ? found
            : await organizations.change(found.id, { rateLimit }, services.actor)
        const rate = readOrganizationRate(changed.settings)
        const data = { slug: changed.slug, rate_limit: snakeCased(rate ?? null) }
        return { data, text: `${changed.slug}: ${describeRate(rate)}.` }
      })
    },
  }),
  'key-defaults': command({
    usage: '<slug> [--scheme x-api-key|bearer] [--expires 90d|never] [--cidr RANGE|any]…',
    about: 'show what new keys are like where nobody says otherwise, or change what is given',
    options: {
      scheme: { type: 'string', value: 'x-api-key|bearer', about: 'the header new keys travel in' },
      expires: { type: 'string', value: 'TIME', about: 'whole days such as 90d, or never' },
      cidr: {
        type: 'string',
        multiple: true,
        value: 'RANGE',
        about: 'addresses new keys may come from, or any; may be given more than once',
      },
    },
    examples: ['intercept org key-defaults acme --expires 90d --cidr 10.0.0.0/8'],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const input = parseDefaults(values)
      return await withServices(terminal, async (services) => {
        const organizations = await organizationsOf(services)
        const found = await organizations.get(slug)
        const changed =
          Object.keys(input).length === 0
            ? found
            : await organizations.change(found.id, { keyDefaults: input }, services.actor)
        const defaults = readKeyDefaults(changed.settings)
        const days = defaults.expiresAfterMs === undefined ? null : defaults.expiresAfterMs / dayMs
        const { scheme, cidrs } = defaults
        return {
          data: { slug: changed.slug, scheme, expires_after_days: days, cidrs: cidrs ?? null },
          text: `New keys of ${changed.slug}: ${scheme}; ${days === null ? 'no end' : `end after ${days} days`}; ${cidrs === undefined ? 'any address' : `only ${cidrs.join(', ')}`}.`,
        }
      })
    },
  }),
}

function parseDefaults(values: {
  scheme?: string | undefined
  expires?: string | undefined
  cidr?: string[] | undefined
}): Partial<KeyDefaults> {
  const { scheme, expires, cidr } = values
  if (cidr?.includes('any') === true && cidr.some((range) => range !== 'any')) {
    throw new UsageError('Either --cidr any or --cidr with ranges')
  }
  return {
    ...(scheme === undefined ? {} : { scheme: parseScheme(scheme) }),
    ...(expires === undefined ? {} : { expiresAfterMs: parseAfter(expires) }),
    ...(cidr === undefined ? {} : { cidrs: cidr.includes('any') ? undefined : cidr }),
  }
}

function parseAfter(text: string): number | undefined {
  if (text === 'never') return undefined
  const ms = read('--expires', text, parseDuration)
  if (ms % dayMs !== 0) throw new UsageError('--expires must be whole days such as 90d, or never')
  return ms
}

function describeRate(rate: ReturnType<typeof readOrganizationRate>): string {
  if (rate === undefined) return 'its calls share no rate'
  return `all its calls share ${rate.calls} calls in ${rate.perSeconds} s`
}

function parsePlan(text: string): Plan {
  if (text !== 'standard' && text !== 'enterprise') {
    throw new UsageError('The plan must be standard or enterprise')
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
