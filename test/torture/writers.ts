import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Keys } from '../../src/access/index.ts'
import { systemClock } from '../../src/clock.ts'
import type { OrganizationId } from '../../src/ids.ts'
import { Organizations } from '../../src/organizations/index.ts'
import { auditEntries, auditHash, openStore, type Store } from '../../src/store/index.ts'

export interface Place {
  readonly folder: string
  readonly databaseUrl?: string | undefined
}

/** The writes that were acknowledged, none of which may ever be lost, and the number of refused ones. */
export interface Acknowledged {
  readonly issued: Map<string, string>
  readonly revoked: Set<string>
  refused: number
}

export function nothingYet(): Acknowledged {
  return { issued: new Map(), revoked: new Set(), refused: 0 }
}

export async function openPlace(place: Place): Promise<Store> {
  return await openStore({ ...place, clock: systemClock, isNode: false })
}

export async function prepare(place: Place): Promise<OrganizationId> {
  await using store = await openPlace(place)
  const organizations = new Organizations({ store })
  return (await organizations.create({ slug: 'torture' }, { kind: 'operator' })).id
}

/** Starts a writer; the writes that it acknowledges are added to `acknowledged`. */
export async function startWriter(
  place: Place,
  organizationId: string,
  acknowledged: Acknowledged,
  options: { workers?: number; wrap?: readonly string[] } = {},
): Promise<ChildProcess> {
  const words = [
    ...(options.wrap ?? []),
    process.execPath,
    join(import.meta.dirname, 'writer.ts'),
    place.folder,
    place.databaseUrl ?? '-',
    organizationId,
    String(options.workers ?? 8),
  ]
  const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => {
    const [what, id = '', secret = ''] = line.split(' ')
    if (what === 'issued') acknowledged.issued.set(id, secret)
    else if (what === 'revoked') acknowledged.revoked.add(id)
    else if (what === 'refused') acknowledged.refused++
  })
  await once(lines, 'line', { signal: AbortSignal.timeout(60_000) })
  return child
}

/** Lists what is missing or incomplete in a database, compared with what was acknowledged; empty if nothing is. */
export async function findLosses(
  store: Store,
  organizationId: OrganizationId,
  acknowledged: Acknowledged,
): Promise<string[]> {
  const losses: string[] = []
  const keys = new Keys({ store, clock: systemClock })
  for (const id of acknowledged.issued.keys()) {
    const key = await keys.get(organizationId, id).catch(() => undefined)
    if (key === undefined) losses.push(`${id} was issued and is not there`)
    else if (key.secrets.length !== 1) losses.push(`${id} has ${key.secrets.length} secrets`)
    else if (acknowledged.revoked.has(id) && key.revokedAt === undefined) {
      losses.push(`${id} was revoked and is not`)
    }
  }
  losses.push(...(await findTornChain(store, organizationId)))
  return losses
}

/** Checks that the audit chain is unbroken, and that all keys that it records as issued exist. */
async function findTornChain(store: Store, organizationId: OrganizationId): Promise<string[]> {
  const torn: string[] = []
  const issued = new Set<string>()
  let previousHash = ''
  let sequence = 0
  for (;;) {
    const rows = await auditEntries.listFrom(store, {
      organizationId,
      fromSequence: sequence + 1,
      limit: 1000,
    })
    for (const row of rows) {
      sequence++
      if (row.sequence !== sequence) torn.push(`audit entry ${sequence} is missing`)
      if (row.previous_hash !== previousHash || auditHash(row) !== row.hash) {
        torn.push(`audit entry ${row.sequence} does not follow the one before`)
      }
      previousHash = row.hash
      sequence = row.sequence
      if (row.action === 'api_key.issued') issued.add(row.subject_id)
    }
    if (rows.length === 0) break
  }
  const keys = new Keys({ store, clock: systemClock })
  for (const id of issued) {
    const key = await keys.get(organizationId, id).catch(() => undefined)
    if (key === undefined) torn.push(`${id} has an audit entry and does not exist`)
  }
  return torn
}
