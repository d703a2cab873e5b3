import type { DeliveryFilter, DeliveryRecord, DeliveryState } from '../../store/index.ts'
import { parseSince } from '../lib/call-query.ts'
import { command, readWhole, UsageError, type Flag } from '../lib/command.ts'
import { organizationsOf } from '../lib/nouns.ts'
import { isoTime, maxListed, renderTable, shortTime } from '../lib/table.ts'
import { withWebhookWork } from '../lib/webhooks.ts'

const states = ['pending', 'held', 'delivered', 'dead', 'skipped'] as const

const filterFlags = {
  endpoint: { type: 'string', value: 'ENDPOINT-ID', about: 'deliveries to this endpoint' },
  event: { type: 'string', value: 'EVENT-ID', about: 'deliveries of this event' },
  state: {
    type: 'string',
    value: 'STATE',
    about: `${states.join(', ')}, retrying (pending after a failed attempt), or missed (dead and skipped)`,
  },
  type: {
    type: 'string',
    value: 'TYPE',
    about: 'deliveries of this type, such as api_key.revoked',
  },
  since: {
    type: 'string',
    value: 'TIME',
    about: 'deliveries of the last 24h, 7d, or since a date',
  },
} as const satisfies Record<string, Flag>

export const commands = {
  list: command({
    usage:
      '<org> [--endpoint ENDPOINT-ID] [--event EVENT-ID] [--state STATE] [--type TYPE] [--since 24h] [--limit 50]',
    about: 'list what was sent to webhook endpoints, newest first',
    options: {
      ...filterFlags,
      limit: { type: 'string', default: '50', value: 'N', about: 'how many, up to 1000' },
    },
    examples: ['intercept deliveries list acme --state missed --since 7d'],
    run: async ({ values, positionals: [slug = ''] }, terminal) => {
      const limit = readWhole('--limit', values.limit, { max: maxListed })
      return await withWebhookWork(terminal, async (webhooks, services) => {
        const { id } = await (await organizationsOf(services)).get(slug)
        const filter = parseFilter(values, services.clock.now())
        const found = await webhooks.deliveries.list(id, { filter, limit })
        const rows = found.map((one) => [
          one.id,
          shortTime(one.createdAt),
          one.state,
          one.type,
          String(one.attemptsEver),
          String(one.lastStatus ?? one.lastFailure ?? '–'),
          one.endpointId,
        ])
        const head = ['ID', 'CREATED (UTC)', 'STATE', 'TYPE', 'ATTEMPTS', 'LAST', 'ENDPOINT']
        return { data: found.map(present), text: renderTable(head, rows, 'No such delivery.') }
      })
    },
  }),
  replay: command({
    usage:
      '<org> [delivery-id] [--state missed] [--endpoint ENDPOINT-ID] [--event EVENT-ID] [--type TYPE] [--since 24h] [--dry-run]',
    about: 'send a delivery again, or all that the flags find: the same ids, the same bytes',
    options: {
      ...filterFlags,
      'dry-run': { type: 'boolean', about: 'say how many would be sent again, and send none' },
    },
    examples: [
      'intercept deliveries replay acme dlv_01hzy3k9v6m2d8q4t7w0x5c1bn',
      'intercept deliveries replay acme --state missed --since 24h --dry-run',
    ],
    run: async ({ values, positionals: [slug = '', deliveryId] }, terminal) => {
      const { 'dry-run': isDry, ...flags } = values
      const isNarrowed = Object.values(flags).some((value) => value !== undefined)
      if ((deliveryId === undefined) === !isNarrowed) {
        throw new UsageError(
          'Name one delivery, or say by flags which; --state missed is what was never delivered',
        )
      }
      return await withWebhookWork(terminal, async ({ replay, deliveries }, services) => {
        const { id } = await (await organizationsOf(services)).get(slug)
        if (deliveryId !== undefined) {
          if (isDry === true) return counted((await deliveries.find(id, deliveryId)) ? 1 : 0)
          await replay.one(id, deliveryId, services.actor)
          return {
            data: { id: deliveryId, replayed: true },
            text: `${deliveryId} is due again; a running node sends it.`,
          }
        }
        const filter = parseFilter(flags, services.clock.now())
        if (isDry === true) return counted(await replay.count(id, filter))
        const operation = await replay.start(id, filter, services.actor)
        return {
          data: { operation_id: operation.id, deliveries: operation.total },
          text: `${countOf(operation.total)} to be sent again by the running nodes (operation ${operation.id}).`,
        }
      })
    },
  }),
}

function counted(deliveries: number) {
  return {
    data: { deliveries, dry_run: true },
    text: `${countOf(deliveries)} would be sent again.`,
  }
}

function countOf(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`
}

type FilterValues = Partial<Record<keyof typeof filterFlags, string | undefined>>

function parseFilter(values: FilterValues, nowMs: number): DeliveryFilter {
  const { endpoint, event, state, type, since } = values
  return {
    endpointId: endpoint,
    eventId: event,
    states: state === undefined ? undefined : parseStates(state),
    onlyTried: state === 'retrying' ? true : undefined,
    types: type === undefined ? undefined : [type],
    createdFrom: since === undefined ? undefined : parseSince('--since', since, nowMs),
  }
}

function parseStates(text: string): readonly DeliveryState[] {
  if (text === 'missed') return ['dead', 'skipped']
  if (text === 'retrying') return ['pending']
  const state = states.find((known) => known === text)
  if (state === undefined)
    throw new UsageError(`--state must be ${states.join(', ')}, retrying or missed`)
  return [state]
}

function present(delivery: DeliveryRecord) {
  const waits = delivery.state === 'pending' || delivery.state === 'held'
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attemptsEver,
    created_at: isoTime(delivery.createdAt),
    due_at: waits ? isoTime(delivery.dueAt) : null,
    completed_at: isoTime(delivery.completedAt),
    last_status: delivery.lastStatus ?? null,
    last_failure: delivery.lastFailure ?? null,
    skipped_reason: delivery.skippedReason ?? null,
  }
}
