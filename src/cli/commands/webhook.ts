import type { EndpointBooks, EndpointRecord, OrganizationRecord } from '../../store/index.ts'
import { command, need, readWhole, UsageError } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import type { Services } from '../lib/services.ts'
import { isoTime, renderTable, shortTime } from '../lib/table.ts'
import { withWebhookWork, type WebhookWork } from '../lib/webhooks.ts'

const endpointOf = '<org|endpoint-id> [endpoint-id]'

export const commands = {
  add: command({
    usage:
      "<org> --url URL [--event TYPE]… [--description TEXT] [--header 'Name: value']… [--rate PER-SECOND] [--ordered] [--asymmetric]",
    about: 'add an endpoint',
    options: {
      url: { type: 'string', value: 'URL', about: 'where deliveries are sent' },
      event: {
        type: 'string',
        multiple: true,
        value: 'TYPE',
        about:
          'only these types, such as api_key.revoked; may be given more than once. Without it: every type',
      },
      description: { type: 'string', value: 'TEXT', about: 'a note for people' },
      header: {
        type: 'string',
        multiple: true,
        value: "'NAME: VALUE'",
        about: 'a header of every delivery; may be given more than once',
      },
      rate: { type: 'string', value: 'PER-SECOND', about: 'how many deliveries a second at most' },
      ordered: { type: 'boolean', about: 'one delivery at a time, in order' },
      asymmetric: { type: 'boolean', about: 'also sign with a key pair' },
    },
    examples: [
      'intercept webhook add acme --url https://example.com/webhooks --event api_key.revoked',
    ],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const input = {
        url: need('--url', values.url),
        types: values.event,
        description: values.description,
        headers: values.header === undefined ? undefined : parseHeaders(values.header),
        ratePerSecond:
          values.rate === undefined
            ? undefined
            : readWhole('--rate', values.rate, { max: 1_000_000 }),
        ordered: values.ordered,
        asymmetric: values.asymmetric,
      }
      return await withWebhookWork(terminal, async (webhooks, services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const created = await webhooks.endpoints.create(organization.id, input, services.actor)
        return {
          data: present(created),
          text: `Endpoint ${created.id} gets ${created.types?.join(', ') ?? 'every event'}; \`intercept webhook secret ${organization.slug}\` prints what it verifies with, \`intercept webhook ping ${created.id}\` tries it.`,
        }
      })
    },
  }),
  secret: command({
    usage: '<org> [--rotate] [--leaked]',
    about: 'print the signing secret, or make a new one',
    options: {
      rotate: { type: 'boolean', about: 'make a new secret; the old one signs for 24 h more' },
      leaked: { type: 'boolean', about: 'make a new secret; the old one ends at once' },
    },
    examples: ['intercept webhook secret acme', 'intercept webhook secret acme --rotate'],
    run: async ({ values, positionals: [slug = ''] }, terminal) =>
      await withWebhookWork(terminal, async ({ secrets }, services) => {
        const { id } = await (await organizationsOf(services)).get(slug)
        const leaked = values.leaked === true
        const secret =
          values.rotate === true || leaked
            ? await secrets.rotate(id, services.actor, leaked ? 0 : undefined)
            : await secrets.reveal(id, services.actor)
        const text = secret.reveal()
        const older = (await secrets.list(id)).flatMap((one) => one.validUntil ?? [])
        const overlap = older.map(
          (until) => `An older one signs too until ${shortTime(until)} UTC.`,
        )
        return {
          data: {
            secret: text,
            standard_secret: text.slice('svc_'.length),
            hint: secret.hint,
            old_secrets_valid_until: older.map(isoTime),
          },
          text: [
            text,
            '',
            `Libraries of Standard Webhooks take it without "svc_": ${text.slice('svc_'.length)}`,
            ...overlap,
          ].join('\n'),
        }
      }),
  }),
  list: command({
    usage: '<org>',
    about: "list an organization's endpoints",
    examples: ['intercept webhook list acme'],
    run: async ({ positionals: [slug = ''] }, terminal) =>
      await withWebhookWork(terminal, async (webhooks, services) => {
        const organization = await (await organizationsOf(services)).get(slug)
        const found = await webhooks.endpoints.list(organization.id)
        const books = new Map(
          (await webhooks.books(organization.id)).map((book) => [book.endpointId, book]),
        )
        const rows = found.map((one) => {
          const book = books.get(one.id)
          const waiting = (book?.pending ?? 0) + (book?.held ?? 0)
          return [
            one.id,
            one.health.state,
            one.url,
            one.types?.join(',') ?? 'all',
            String(waiting),
            String(book?.dead ?? 0),
            shortTime(one.health.lastSuccessAt),
          ]
        })
        const text = renderTable(
          ['ID', 'STATE', 'URL', 'TYPES', 'WAITING', 'DEAD', 'LAST SUCCESS (UTC)'],
          rows,
          `No endpoint yet; \`intercept webhook add ${organization.slug} --url https://example.com/webhooks\` adds one.`,
        )
        const data = found.map((one) => ({
          ...present(one),
          deliveries: countsOf(books.get(one.id)),
        }))
        return { data, text }
      }),
  }),
  remove: command({
    usage: '<org|endpoint-id> [endpoint-id]',
    about: 'remove an endpoint, named by its id; what waits for it is skipped',
    examples: ['intercept webhook remove ep_01hzy3k9v6m2d8q4t7w0x5c1bn'],
    run: async ({ positionals }, terminal) => {
      // The id is required even if there is a single endpoint, so that nobody deletes one without having looked at it.
      const id = positionals.at(-1) ?? ''
      if (!id.startsWith('ep_')) throw new UsageError('Say which endpoint, by its id (ep_…)')
      return await withWebhookWork(terminal, async (webhooks, services) => {
        const [endpoint] = await chosen(webhooks, services, positionals)
        if (!endpoint) throw new UsageError('Say which endpoint, by its id (ep_…)')
        await webhooks.endpoints.remove(endpoint.organizationId, id, services.actor)
        return { data: { id }, text: `Endpoint ${id} is deleted.` }
      })
    },
  }),
  ping: command({
    usage: endpointOf,
    about:
      'send webhook.ping to an endpoint, or to all of an organization; a running server delivers it',
    examples: ['intercept webhook ping acme'],
    run: async ({ positionals }, terminal) =>
      await withWebhookWork(terminal, async (webhooks, services) => {
        const found = await chosen(webhooks, services, positionals)
        if (found.length === 0) throw new UsageError('There is no endpoint to ping')
        const sent: { endpoint_id: string; event_id: string }[] = []
        for (const { organizationId, id } of found) {
          const { eventId } = await webhooks.endpoints.sendSample(organizationId, id, {
            actor: services.actor,
          })
          sent.push({ endpoint_id: id, event_id: eventId })
        }
        const text = sent.map((one) => `${one.event_id} is on its way to ${one.endpoint_id}.`)
        return { data: sent.length === 1 ? sent[0] : sent, text: text.join('\n') }
      }),
  }),
}

/** Finds the endpoints that the arguments name: one by `<id>` or `<org> <id>`, or all of an organization by `<org>`. */
async function chosen(
  webhooks: WebhookWork,
  services: Services,
  [first = '', second]: readonly string[],
): Promise<EndpointRecord[]> {
  const organizations = await organizationsOf(services)
  if (second === undefined && first.startsWith('ep_')) {
    const organizationId = await webhooks.endpoints.organizationOf(first)
    return [await webhooks.endpoints.get(organizationId, first)]
  }
  const organization: OrganizationRecord = await organizations.get(first)
  return second === undefined
    ? await webhooks.endpoints.list(organization.id)
    : [await webhooks.endpoints.get(organization.id, second)]
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      if (colon < 1) throw new UsageError("--header must be 'Name: value'")
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
}

function present(endpoint: EndpointRecord) {
  const { health } = endpoint
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.types ?? null,
    header_names: endpoint.headerNames,
    rate_per_second: endpoint.ratePerSecond ?? null,
    ordered: endpoint.ordered,
    public_key: endpoint.publicKey ?? null,
    state: health.state,
    disabled_reason: health.disabledReason ?? null,
    created_at: isoTime(endpoint.createdAt),
    last_success_at: isoTime(health.lastSuccessAt),
  }
}

function countsOf(book: EndpointBooks | undefined) {
  if (book === undefined) return null
  const { committed, delivered, dead, pending, held, skipped } = book
  return { committed, delivered, dead, pending, held, skipped }
}
