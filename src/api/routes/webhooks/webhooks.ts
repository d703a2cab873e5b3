import { Type, type Static } from '../../../http/index.ts'
import { eventTypes } from '../../../webhooks/index.ts'
import { route, type RouteRequest } from '../../core/route.ts'
import type { Services } from '../../core/services.ts'
import { input, nullable, Time, time } from '../../core/schemas.ts'
import { Endpoint, toEndpoint } from './webhook-schema.ts'

const maxOverlapSeconds = 7 * 24 * 3600
const E = '/organizations/:organization/webhooks/endpoints'

const inputProperties = {
  description: Type.Optional(Type.String({ maxLength: 200 })),
  /** null means every type. */
  types: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 60 }), { minItems: 1, maxItems: 100 })),
  ),
  /** Additional headers of every delivery; in an edit, they replace all previous headers. */
  headers: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4096 }))),
  /** Maximum deliveries per second; null means no limit. */
  rate_per_second: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1000 }))),
  /** Whether deliveries are sent one at a time, in event order. */
  ordered: Type.Optional(Type.Boolean()),
  /** Whether deliveries also carry an Ed25519 signature. */
  asymmetric: Type.Optional(Type.Boolean()),
}
const Input = Type.Object(inputProperties)
const Url = Type.String({ minLength: 1, maxLength: 2048 })

const EventType = Type.Object(
  {
    type: Type.String(),
    description: Type.String(),
    /** JSON Schema of the whole body. */
    schema: Type.Record(Type.String(), Type.Unknown()),
    sample: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'EventType' },
)

const Secrets = Type.Object(
  {
    /** The secret, with its `svc_` prefix; Standard Webhooks libraries take it without that prefix. */
    current: Type.Object({ secret: Type.String(), hint: Type.String(), created_at: Time }),
    /** Older secrets that still sign deliveries as well. */
    old: Type.Array(Type.Object({ hint: Type.String(), created_at: Time, valid_until: Time })),
  },
  { title: 'WebhookSecrets' },
)

/** Endpoints, the signing secret and the event types. */
export const webhookRoutes = {
  [`GET ${E}` as const]: route({
    summary: 'Endpoints with their health and delivery counts',
    permission: 'traffic.see',
    answer: Type.Object({ items: Type.Array(Endpoint) }),
    handle: async ({ organization }, { webhooks }) => {
      const found = await webhooks.endpoints.list(organization.id)
      const all = await webhooks.books(organization.id)
      const books = new Map(all.map((one) => [one.endpointId, one]))
      return { items: found.map((endpoint) => toEndpoint(endpoint, books.get(endpoint.id))) }
    },
  }),

  [`POST ${E}` as const]: route({
    summary: 'Add an endpoint, which receives events from now on',
    permission: 'webhooks.manage',
    status: 201,
    body: input({ url: Url, ...inputProperties }),
    answer: Endpoint,
    handle: async ({ organization, body, actor }, { webhooks }) =>
      toEndpoint(
        await webhooks.endpoints.create(
          organization.id,
          { ...toInput(body), url: body.url },
          actor,
        ),
        undefined,
      ),
  }),

  [`GET ${E}/:endpoint` as const]: route({
    summary: 'An endpoint with its health and delivery counts',
    permission: 'traffic.see',
    answer: Endpoint,
    handle: async (request, services) => await one(request, services),
  }),

  [`PATCH ${E}/:endpoint` as const]: route({
    summary:
      'Change an endpoint; omitted fields stay unchanged. The old headers are dropped when the origin changes',
    permission: 'webhooks.manage',
    managed: { section: 'endpoints', param: 'endpoint' },
    body: input({ url: Type.Optional(Url), ...inputProperties }),
    answer: Endpoint,
    handle: async (request, services) => {
      const { organization, body, actor, expectedVersion, param } = request
      const id = param('endpoint')
      const change = {
        ...{ input: { ...toInput(body), url: body.url }, actor },
        version: expectedVersion,
      }
      await services.webhooks.endpoints.update(organization.id, id, change)
      return await one(request, services)
    },
  }),

  [`DELETE ${E}/:endpoint` as const]: route({
    summary: 'Delete an endpoint; its pending deliveries become skipped',
    permission: 'webhooks.manage',
    managed: { section: 'endpoints', param: 'endpoint' },
    handle: async ({ organization, param, actor }, { webhooks }) => {
      await webhooks.endpoints.remove(organization.id, param('endpoint'), actor)
      return undefined
    },
  }),

  [`POST ${E}/:endpoint/enable` as const]: setState(
    'enable',
    'Enable an endpoint, whatever its state',
  ),

  [`POST ${E}/:endpoint/disable` as const]: setState(
    'disable',
    'Disable an endpoint; its pending and future deliveries become skipped',
  ),

  [`POST ${E}/:endpoint/ping` as const]: route({
    summary: 'Send webhook.ping to this endpoint only',
    permission: 'webhooks.manage',
    status: 202,
    answer: Type.Object({ id: Type.String() }),
    handle: async ({ organization, param, actor }, { webhooks }) => {
      const id = param('endpoint')
      return { id: (await webhooks.endpoints.sendSample(organization.id, id, { actor })).eventId }
    },
  }),

  [`POST ${E}/:endpoint/sample` as const]: route({
    summary: "Send an event type's sample to this endpoint only",
    permission: 'webhooks.manage',
    status: 202,
    body: input({ type: Type.String({ minLength: 1, maxLength: 60 }) }),
    answer: Type.Object({ id: Type.String() }),
    handle: async ({ organization, param, body, actor }, { webhooks }) => {
      const id = param('endpoint')
      const sent = await webhooks.endpoints.sendSample(organization.id, id, {
        actor,
        type: body.type,
      })
      return { id: sent.eventId }
    },
  }),

  'GET /organizations/:organization/webhooks/types': route({
    summary: 'Every event type, with its JSON Schema and a sample',
    permission: 'traffic.see',
    answer: Type.Object({ items: Type.Array(EventType) }),
    handle: async () => ({ items: eventTypes.map((entry) => ({ ...entry })) }),
  }),

  'GET /organizations/:organization/webhooks/secret': route({
    summary: 'The signing secret; reading it is recorded in the audit log',
    permission: 'webhooks.manage',
    freshSignIn: true,
    answer: Secrets,
    handle: async ({ organization, actor }, services) => {
      const secret = await services.webhooks.secrets.reveal(organization.id, actor)
      return await secretsOf(organization.id, services, secret.reveal())
    },
  }),

  'POST /organizations/:organization/webhooks/secret/rotate': route({
    summary:
      'Create a new signing secret; the old one also signs during the overlap (set the overlap to 0 if the old one has leaked)',
    permission: 'webhooks.manage',
    freshSignIn: true,
    status: 201,
    body: input({
      overlap_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: maxOverlapSeconds })),
    }),
    answer: Secrets,
    handle: async ({ organization, body, actor }, services) => {
      const overlapMs = body.overlap_seconds === undefined ? undefined : body.overlap_seconds * 1000
      const secret = await services.webhooks.secrets.rotate(organization.id, actor, overlapMs)
      return await secretsOf(organization.id, services, secret.reveal())
    },
  }),

  'POST /organizations/:organization/webhooks/secret/end-old': route({
    summary: 'End the overlap of older secrets immediately',
    permission: 'webhooks.manage',
    freshSignIn: true,
    handle: async ({ organization, actor }, { webhooks }) => {
      await webhooks.secrets.endOverlap(organization.id, actor)
      return undefined
    },
  }),
}

function toInput({ rate_per_second: ratePerSecond, ...fields }: Static<typeof Input>) {
  return { ...fields, ratePerSecond }
}

function setState(change: 'enable' | 'disable', summary: string) {
  return route({
    summary,
    permission: 'webhooks.manage',
    status: 200,
    answer: Endpoint,
    handle: async (request, services) => {
      const { organization, param, actor } = request
      await services.webhooks.endpoints[change](organization.id, param('endpoint'), actor)
      return await one(request, services)
    },
  })
}

async function one(
  { organization, param }: Pick<RouteRequest, 'organization' | 'param'>,
  { webhooks }: Services,
): Promise<Static<typeof Endpoint>> {
  const endpoint = await webhooks.endpoints.get(organization.id, param('endpoint'))
  const [books] = await webhooks.books(organization.id, endpoint.id)
  return toEndpoint(endpoint, books)
}

async function secretsOf(
  organizationId: string,
  services: Services,
  text: string,
): Promise<Static<typeof Secrets>> {
  const [current, ...older] = await services.webhooks.secrets.list(organizationId)
  return {
    current: {
      secret: text,
      hint: current?.hint ?? '',
      created_at: time(current?.createdAt ?? services.clock.now()),
    },
    old: older.flatMap(({ hint, createdAt, validUntil }) =>
      validUntil === undefined
        ? []
        : [{ hint, created_at: time(createdAt), valid_until: time(validUntil) }],
    ),
  }
}
