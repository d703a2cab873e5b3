import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db, Tx } from '../../db/db.ts'
import { keepQuery } from '../../db/kept-query.ts'
import { fromRow, type EndpointRecord } from './endpoints.ts'

/** A lease on an endpoint; each new lease, even for the same owner, has a different token. */
export type Lease = Pick<EndpointRecord, 'id' | 'leaseToken'>

export interface Release extends Lease {
  /** Milliseconds for which nobody may lease the endpoint, because its receiver asked for a pause. */
  readonly restMs: number
}

/**
 * Finds unleased endpoints with a due delivery or probe; those whose last attempt is longest ago come first. Searching
 * endpoints rather than deliveries keeps one endpoint's backlog from hiding the others.
 */
export async function findLeasable(
  db: Db,
  search: {
    now: number
    limit: number
    /** Limits the search to these organizations, whose endpoints may have new or newly due deliveries. */
    organizationIds?: readonly string[] | undefined
  },
): Promise<string[]> {
  const { organizationIds } = search
  const rows =
    organizationIds === undefined
      ? await leasableAnywhere(db, search)
      : await leasable(db, search, organizationIds).execute()
  return rows.map((row) => row.id)
}

// Nodes run this query at least every three seconds, so it is built only once.
const leasableAnywhere = keepQuery(['now', 'limit'], (db, search) =>
  leasable(db, search, undefined),
)

function leasable(
  db: Db,
  { now, limit }: { readonly now: number; readonly limit: number },
  organizationIds: readonly string[] | undefined,
) {
  return (
    db.query
      .selectFrom('endpoint')
      .select('endpoint.id')
      .where('endpoint.deleted_at', 'is', null)
      .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', now)]))
      .$if(organizationIds !== undefined, (q) =>
        q.where('endpoint.organization_id', 'in', organizationIds ?? []),
      )
      .where((eb) =>
        eb.or([
          eb('endpoint.state', '=', 'active'),
          eb.and([eb('endpoint.state', '=', 'held'), eb('endpoint.probe_at', '<=', now)]),
        ]),
      )
      .where((eb) =>
        eb.exists(
          eb
            .selectFrom('delivery')
            .select('delivery.id')
            .whereRef('delivery.endpoint_id', '=', 'endpoint.id')
            .where('delivery.state', '=', sql.lit('pending'))
            // A probe may send a delivery before it is due.
            .where((or) =>
              or.or([or('delivery.due_at', '<=', now), or('endpoint.state', '=', 'held')]),
            ),
        ),
      )
      // An ordered endpoint sends nothing before its first delivery is due. Leased earlier, it would only take up one
      // of the lanes, which other endpoints need.
      .where((eb) =>
        eb.or([
          eb('endpoint.ordered', '=', 0),
          eb('endpoint.state', '=', 'held'),
          eb(
            eb
              .selectFrom('delivery')
              .select('delivery.due_at')
              .whereRef('delivery.endpoint_id', '=', 'endpoint.id')
              .where('delivery.state', '=', sql.lit('pending'))
              .orderBy('delivery.event_sequence')
              .limit(1),
            '<=',
            now,
          ),
        ]),
      )
      .orderBy(sql`coalesce(last_attempt_at, 0)`)
      .limit(limit)
  )
}

/**
 * Leases the given endpoints that are still free; each new lease of an endpoint gets a higher token than the one
 * before.
 */
export async function leaseEndpoints(
  tx: Tx,
  lease: { owner: string; until: number; endpointIds: readonly string[] },
): Promise<EndpointRecord[]> {
  if (lease.endpointIds.length === 0) return []
  const rows = await tx.query
    .updateTable('endpoint')
    .set((eb) => ({
      lease_owner: lease.owner,
      lease_until: lease.until,
      lease_token: eb('lease_token', '+', 1),
    }))
    // An endpoint whose row is locked is skipped, because another transaction is leasing or changing it.
    .where('id', 'in', inOneOrder(tx, lease.endpointIds, 'skip'))
    .where((eb) => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<', tx.now)]))
    .where('state', '!=', 'disabled')
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/** Lists the owners of unexpired leases. A starting node looks among them for dead processes of its machine. */
export async function listLeaseOwners(db: Db, now: number): Promise<string[]> {
  const rows = await db.query
    .selectFrom('endpoint')
    .select('lease_owner')
    .distinct()
    .where('lease_until', '>=', now)
    .execute()
  return rows.flatMap((row) => row.lease_owner ?? [])
}

/** Ends all leases of an owner whose process seems to be dead. */
export async function endLeasesOf(tx: Tx, owner: string): Promise<void> {
  await tx.query
    .updateTable('endpoint')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner)
    .execute()
}

/** Renews the leases that have been neither replaced nor ended; returns the current rows of their endpoints. */
export async function renewLeases(
  tx: Tx,
  renewal: { owner: string; until: number; leases: readonly Lease[] },
): Promise<EndpointRecord[]> {
  if (renewal.leases.length === 0) return []
  const rows = await tx.query
    .updateTable('endpoint')
    .set({ lease_until: renewal.until })
    .where('id', 'in', inOneOrder(tx, idsOf(renewal.leases)))
    .where('lease_owner', '=', renewal.owner)
    .where(isLastTaking(renewal.leases))
    .where('deleted_at', 'is', null)
    .returningAll()
    .execute()
  return rows.map(fromRow)
}

/**
 * Releases leases, so that the next owner need not wait until they expire; a lease that has since been replaced is left
 * alone. If the receiver asked for a pause, the endpoint keeps a lease without an owner until the pause is over.
 */
export async function releaseLeases(
  tx: Tx,
  { owner, leases }: { owner: string; leases: readonly Release[] },
): Promise<void> {
  const free = leases.filter(({ restMs }) => restMs <= 0)
  if (free.length > 0) {
    await tx.query
      .updateTable('endpoint')
      .set({ lease_owner: null, lease_until: null })
      .where('id', 'in', inOneOrder(tx, idsOf(free)))
      .where('lease_owner', '=', owner)
      .where(isLastTaking(free))
      .execute()
  }
  const resting = leases.filter(({ restMs }) => restMs > 0)
  if (resting.length === 0) return
  const values = resting.map(
    ({ id, leaseToken, restMs }) =>
      sql`(${id}, cast(${leaseToken} as bigint), cast(${tx.now + Math.ceil(restMs)} as bigint))`,
  )
  await sql`update endpoint set lease_owner = null, lease_until = v.column3
    from (values ${sql.join(values)}) as v
    where endpoint.id = v.column1 and endpoint.lease_token = v.column2
      and endpoint.lease_owner = ${owner} and endpoint.id in (${inOneOrder(tx, idsOf(resting))})`.execute(
    tx.query,
  )
}

function isLastTaking(leases: readonly Lease[]): RawBuilder<SqlBool> {
  const values = leases.map(({ id, leaseToken }) => sql`(${id}, cast(${leaseToken} as bigint))`)
  return sql<SqlBool>`(id, lease_token) in (values ${sql.join(values)})`
}

const idsOf = (leases: readonly Lease[]): string[] => leases.map(({ id }) => id)

/**
 * Selects endpoints' ids in one fixed order and locks their rows on PostgreSQL: using the same order everywhere
 * prevents deadlocks.
 */
export function inOneOrder(tx: Tx, ids: readonly string[], whatIsLocked: 'wait' | 'skip' = 'wait') {
  return tx.query
    .selectFrom('endpoint')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .$if(tx.engine === 'postgres', (query) =>
      whatIsLocked === 'skip' ? query.forUpdate().skipLocked() : query.forUpdate(),
    )
}
