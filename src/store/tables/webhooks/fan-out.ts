import { sql, type RawBuilder } from 'kysely'
import { createId } from '../../../ids.ts'
import type { Tx } from '../../db/db.ts'
import { insertion } from '../../db/insertion.ts'
import type { Write } from '../../db/together.ts'

// A ping is sent to one endpoint, whatever event types that endpoint subscribes to.
const pingType = 'webhook.ping'

/** The columns that decide whether an endpoint receives an event. */
export interface EndpointInput {
  readonly id: string
  readonly types: string | null
  readonly state: string
}

/** An event that is written in the same transaction. */
interface WrittenEvent {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly onlyEndpointId: string | undefined
}

/**
 * Builds the deliveries of events to the endpoints that subscribe to those events, and returns the ids of the endpoints
 * that have something to send. The writes must run in the events' own transaction, under the lock on the organization's
 * head.
 */
export function fanOut(
  tx: Tx,
  {
    organizationId,
    events,
    endpoints,
  }: {
    readonly organizationId: string
    readonly events: readonly WrittenEvent[]
    readonly endpoints: readonly EndpointInput[]
  },
): { readonly endpointIds: readonly string[]; readonly writes: readonly Write[] } {
  if (endpoints.length === 0) return { endpointIds: [], writes: [] }
  const toSend = new Set<string>()
  const rows = endpoints.flatMap((endpoint) => {
    const wanted = endpoint.types === null ? undefined : (JSON.parse(endpoint.types) as string[])
    const disabled = endpoint.state === 'disabled'
    return events
      .filter((event) => wants(endpoint.id, wanted, event))
      .map((event) => {
        if (!disabled) toSend.add(endpoint.id)
        return {
          id: createId('dlv', tx.now),
          organization_id: organizationId,
          endpoint_id: endpoint.id,
          event_sequence: event.sequence,
          event_id: event.id,
          type: event.type,
          state: disabled ? 'skipped' : 'pending',
          due_at: tx.now,
          attempts: 0,
          attempts_ever: 0,
          version: 1,
          created_at: tx.now,
          completed_at: disabled ? tx.now : null,
          skipped_reason: disabled ? 'endpoint_disabled' : null,
        }
      })
  })
  // This event's number was reserved just now, so none of our deliveries has it yet. A row that already does was put
  // there by someone else; it is overwritten, because it would block all further events.
  const writes = insertion(tx, {
    table: 'delivery',
    types: deliveryColumns,
    rows,
    replaces: ['organization_id', 'event_sequence', 'endpoint_id'],
  })
  return { endpointIds: [...toSend], writes: [...writes, ...enterInBooks(tx, rows)] }
}

const deliveryColumns = {
  id: 'text',
  organization_id: 'text',
  endpoint_id: 'text',
  event_sequence: 'bigint',
  event_id: 'text',
  type: 'text',
  state: 'text',
  due_at: 'bigint',
  attempts: 'bigint',
  attempts_ever: 'bigint',
  version: 'bigint',
  created_at: 'bigint',
  completed_at: 'bigint',
  skipped_reason: 'text',
} as const

/**
 * Selects an organization's endpoints. Run it under the lock on the organization's head, so that it misses no endpoint.
 */
export function endpointsOf(organizationId: string): RawBuilder<EndpointInput> {
  return sql<EndpointInput>`select id, types, state from endpoint
    where organization_id = ${organizationId} and deleted_at is null`
}

function wants(
  endpointId: string,
  types: readonly string[] | undefined,
  event: WrittenEvent,
): boolean {
  if (event.onlyEndpointId !== undefined) return event.onlyEndpointId === endpointId
  if (event.type === pingType) return false
  return types === undefined || types.includes(event.type)
}

function enterInBooks(tx: Tx, rows: readonly { endpoint_id: string }[]): Write[] {
  const committed = new Map<string, number>()
  for (const { endpoint_id: id } of rows) committed.set(id, (committed.get(id) ?? 0) + 1)
  // Endpoints with the same number of new deliveries share a statement; usually that is all of them.
  return [...new Set(committed.values())].map((number) => {
    const ids = [...committed].filter(([, own]) => own === number).map(([id]) => id)
    return tx.query
      .updateTable('endpoint_count')
      .set({ committed: sql<number>`committed + ${number}` })
      .where('endpoint_id', 'in', ids)
  })
}
