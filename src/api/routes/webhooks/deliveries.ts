import { Problem } from '../../../errors.ts'
import { Type, type Static } from '../../../http/index.ts'
import type { DeliveryFilter, DeliveryState, EventRecord } from '../../../store/index.ts'
import { uncompressed } from '../../core/compress.ts'
import { route } from '../../core/route.ts'
import { idCursor, limitOf, pageOf, pageQuery, toPageById } from '../../core/paging.ts'
import { optionalMomentOf } from '../../core/moments.ts'
import { input, nullable, oneOf, Time } from '../../core/schemas.ts'
import {
  Delivery,
  deliveryStates,
  DeliveryWithAttempts,
  Operation,
  toAttempt,
  toDelivery,
  toOperation,
} from './webhook-schema.ts'

const eventsInPage = 200
const D = '/organizations/:organization/webhooks/deliveries'
const R = '/organizations/:organization/webhooks/replays'

const idText = Type.String({ minLength: 1, maxLength: 60 })

/** `missed` means dead or skipped; `retrying` means pending after a failed attempt. */
const filterProperties = {
  endpoint: Type.Optional(idText),
  event: Type.Optional(idText),
  state: Type.Optional(oneOf([...deliveryStates, 'retrying', 'missed'])),
  type: Type.Optional(idText),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
}
const Filter = input(filterProperties)

const Event = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    sequence: Type.Integer(),
    /** The stored bytes, exactly as receivers get them. */
    body: Type.String(),
  },
  { title: 'Event' },
)

/** Deliveries, replays, and the list of events for polling. */
export const deliveryRoutes = {
  [`GET ${D}` as const]: route({
    summary: 'Deliveries of all endpoints, newest first',
    permission: 'traffic.see',
    query: Type.Object({ ...pageQuery, ...filterProperties }),
    answer: pageOf(Delivery),
    handle: async ({ organization, query }, { webhooks }) => {
      const page = {
        filter: toFilter(query),
        before: idCursor('dlv', query.after),
        limit: limitOf(query) + 1,
      }
      return toPageById(query, await webhooks.deliveries.list(organization.id, page), toDelivery)
    },
  }),

  [`GET ${D}/:delivery` as const]: route({
    summary: 'One delivery with its bytes and its attempts',
    permission: 'traffic.see',
    answer: DeliveryWithAttempts,
    handle: async ({ organization, param }, { webhooks }) => {
      const delivery = await webhooks.deliveries.find(organization.id, param('delivery'))
      if (!delivery) throw new Problem('not_found', 'There is no such delivery.')
      const event = await webhooks.events.find(organization.id, delivery.eventId)
      const attempts = await webhooks.deliveries.attempts(organization.id, delivery.id)
      return uncompressed({
        ...toDelivery(delivery),
        body: event?.body.toString('utf8') ?? null,
        attempt_list: attempts.map(toAttempt),
      })
    },
  }),

  [`POST ${D}/:delivery/replay` as const]: route({
    summary: 'Send one delivery again, with the same id and bytes',
    permission: 'deliveries.replay',
    status: 202,
    answer: Delivery,
    handle: async ({ organization, param, actor }, { webhooks }) => {
      await webhooks.replay.one(organization.id, param('delivery'), actor)
      const delivery = await webhooks.deliveries.find(organization.id, param('delivery'))
      if (!delivery) throw new Problem('not_found', 'There is no such delivery.')
      return toDelivery(delivery)
    },
  }),

  [`POST ${R}/count` as const]: route({
    summary: 'Count the deliveries that a replay would send again, without sending any',
    permission: 'deliveries.replay',
    status: 200,
    body: Filter,
    answer: Type.Object({ deliveries: Type.Integer() }),
    handle: async ({ organization, body }, { webhooks }) => ({
      deliveries: await webhooks.replay.count(organization.id, toFilter(body)),
    }),
  }),

  [`POST ${R}` as const]: route({
    summary:
      'Resend the deliveries that match a filter, except those to disabled or deleted endpoints, as an operation that can be paused and canceled',
    permission: 'deliveries.replay',
    status: 202,
    body: Filter,
    answer: Operation,
    handle: async ({ organization, body, actor }, { webhooks }) =>
      toOperation(await webhooks.replay.start(organization.id, toFilter(body), actor)),
  }),

  'GET /organizations/:organization/events': route({
    summary: 'Events in order after a cursor, for receivers that poll',
    permission: 'traffic.see',
    query: Type.Object({
      /** The previous page's `next`. Without it, the list starts at the oldest event that is kept. */
      after: Type.Optional(Type.String({ pattern: '^\\d{0,15}$' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: eventsInPage })),
      /** Types, separated by commas. */
      types: Type.Optional(Type.Array(idText, { maxItems: 50 })),
    }),
    answer: Type.Object({
      items: Type.Array(Event),
      /** The cursor to send as `after` in the next request; on an empty page, the cursor of this request, or null. */
      next: nullable(Type.String()),
      more: Type.Boolean(),
    }),
    handle: async ({ organization, query }, { webhooks }) => {
      const limit = limitOf(query)
      const { after, types } = query
      const page = { after: Number(after ?? ''), limit: limit + 1, types }
      const found = await webhooks.events.listAfter(organization.id, page)
      const shown = found.slice(0, limit)
      const last = shown.at(-1)?.sequence
      return {
        items: shown.map(toEvent),
        next: last === undefined ? after || null : String(last),
        more: found.length > limit,
      }
    },
  }),
}

function toEvent({ id, type, sequence, body }: EventRecord): Static<typeof Event> {
  return { id, type, sequence, body: body.toString('utf8') }
}

function toFilter(query: Static<typeof Filter>): DeliveryFilter {
  const { endpoint, event, state, type, from, to } = query
  return {
    endpointId: endpoint,
    eventId: event,
    states: state === undefined ? undefined : statesOf(state),
    onlyTried: state === 'retrying' ? true : undefined,
    types: type === undefined ? undefined : [type],
    createdFrom: optionalMomentOf(from),
    createdTo: optionalMomentOf(to),
  }
}

function statesOf(state: DeliveryState | 'retrying' | 'missed'): readonly DeliveryState[] {
  if (state === 'retrying') return ['pending']
  return state === 'missed' ? ['dead', 'skipped'] : [state]
}
