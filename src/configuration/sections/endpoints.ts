import type { EndpointRecord } from '../../store/index.ts'
import { Type } from '../../http/index.ts'
import { flag, mapOf, nullable, object, reference, text, texts, whole } from './fields.ts'
import { slugFrom, type Entry, type Section } from './section.ts'

/** Webhook endpoints, which are named in the file only, because they have no names of their own. */
export const endpointSection: Section = {
  key: 'endpoints',
  noun: 'endpoint',
  permission: 'webhooks.manage',
  hasUniqueNames: false,
  schema: object(
    {
      url: text(2048, 'Where events are sent.'),
      description: Type.String({ maxLength: 200, description: 'What it is for.' }),
      types: nullable(texts(100, 'The types of events it gets; null = all.')),
      headers: mapOf(reference, 20, 'Headers sent with every delivery, by reference.'),
      rate_per_second: nullable(whole(1, 1000, 'Deliveries a second at most; null = any.')),
      ordered: flag('One after the other, in the order of the events.'),
      asymmetric: flag('Whether deliveries carry an Ed25519 signature too.'),
    },
    ['url'],
  ),
  loose: [],
  secretPaths: ({ headers }) => Object.keys(headers ?? {}).map((name) => `headers.${name}`),
  defaults: () => ({
    description: '',
    types: null,
    headers: {},
    rate_per_second: null,
    ordered: false,
    asymmetric: false,
  }),
  tidy: (entry) => entry,
  async present({ organization, services }) {
    const found = await services.endpoints.list(organization.id)
    return await Promise.all(
      found.map(async (endpoint) => {
        const { id, url, headerNames } = endpoint
        const opened = headerNames.length === 0 ? {} : await headersOf(endpoint, services)
        const secrets = new Map(
          Object.entries(opened).map(([name, value]) => [`headers.${name}`, value]),
        )
        return { id, name: nameFor(url), entry: entryOf(endpoint), secrets }
      }),
    )
  },
  async put({ entry, before, secretAt }, { organization, services, actor }) {
    const names = Object.keys(entry['headers'] ?? {})
    const input = {
      url: String(entry['url']),
      description: String(entry['description']),
      types: entry['types'] as string[] | null,
      headers: Object.fromEntries(names.map((name) => [name, secretAt(`headers.${name}`)])),
      ratePerSecond: entry['rate_per_second'] as number | null,
      ordered: entry['ordered'] === true,
      asymmetric: entry['asymmetric'] === true,
    }
    const { endpoints } = services
    if (before === undefined) return (await endpoints.create(organization.id, input, actor)).id
    return (await endpoints.update(organization.id, before.id, { input, actor })).id
  },
  remove: async (id, { organization, services, actor }) =>
    await services.endpoints.remove(organization.id, id, actor),
}

function nameFor(url: string): string {
  const { host, pathname } = new URL(url)
  return slugFrom(`${host}${pathname}`)
}

async function headersOf(
  endpoint: EndpointRecord,
  {
    endpoints,
  }: { readonly endpoints: { prepare(one: EndpointRecord): Promise<{ headers: object }> } },
): Promise<Record<string, string>> {
  return { ...(await endpoints.prepare(endpoint)).headers }
}

function entryOf(endpoint: EndpointRecord): Entry {
  const { url, description, types, headerNames, ratePerSecond, ordered, publicKey } = endpoint
  return {
    url,
    description,
    types: types ?? null,
    headers: Object.fromEntries(headerNames.map((name) => [name, ''])),
    rate_per_second: ratePerSecond ?? null,
    ordered,
    asymmetric: publicKey !== undefined,
  }
}
